"""The name of an image, in its parts."""

import pytest

from herorun.core.code.image_reference import ImageReference, parse_image

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ghcr.io/lab/train:v1", ("ghcr.io", "lab/train", "v1", None)),
        (f"ghcr.io/lab/train@{DIGEST}", ("ghcr.io", "lab/train", None, DIGEST)),
        (f"docker://ghcr.io/lab/a/b:v1@{DIGEST}", ("ghcr.io", "lab/a/b", "v1", DIGEST)),
        ("localhost:5000/train", ("localhost:5000", "train", None, None)),
        ("host:5000/lab/train:v1.2_3-x", ("host:5000", "lab/train", "v1.2_3-x", None)),
        ("lab/train", ("docker.io", "lab/train", None, None)),
        ("python:3.11", ("docker.io", "library/python", "3.11", None)),
        ("docker.io/python", ("docker.io", "library/python", None, None)),
    ],
)
def test_the_parts(text: str, parts: tuple[str, str, str | None, str | None]) -> None:
    assert parse_image(text) == ImageReference(*parts)


@pytest.mark.parametrize(
    "text", ["", "/x", "a b", "Lab/train", "x:", "x@", "oras://h/x", "x@sha256:zz", "x/../y"]
)
def test_what_is_no_image(text: str) -> None:
    assert parse_image(text) is None


def test_the_digest_wins_over_the_tag() -> None:
    images = [parse_image(text) for text in (f"h.io/x:v1@{DIGEST}", "h.io/x:v1", "h.io/x")]
    assert [each.version for each in images if each] == [DIGEST, "v1", "latest"]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("ghcr.io/lab/train", "https://ghcr.io/v2/lab/train"),
        ("127.0.0.1:5000/x", "http://127.0.0.1:5000/v2/x"),
        ("localhost/x", "http://localhost/v2/x"),
        ("localhost.example.org/x", "https://localhost.example.org/v2/x"),
        ("127.0.0.1.example.org/x", "https://127.0.0.1.example.org/v2/x"),
    ],
)
def test_only_this_machine_is_asked_without_tls(text: str, url: str) -> None:
    image = parse_image(text)
    assert image and image.url == url
