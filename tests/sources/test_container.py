"""What an image says about its commit, asked of a registry that answers as the specification
says.
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Container, Nothing, WorkTree
from herorun.sources.container import read_container
from herorun.system.git import Repository, find_repository
from services.image_registry import REVISION, ImageRegistry, serving_images
from stories import git


@pytest.fixture
def registry(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImageRegistry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(home))
    monkeypatch.setenv("NETRC", str(home / "netrc"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving_images() as server:
        yield server


@pytest.fixture
def repository(home: Path) -> Repository:
    """Two commits: the first changes train.py, the second README.md."""
    work = home / "work"
    work.mkdir()
    git(work, "init", "-q", "--template=", "-b", "main")
    for name in ("train.py", "README.md"):
        (work / name).write_text("x\n")
        git(work, "add", name)
        git(
            work,
            "-c",
            "user.name=Dri",
            "-c",
            "user.email=dri@example.org",
            "commit",
            "-q",
            "-m",
            name,
        )
    return find_repository(work)


def read(repository: Repository, image: str) -> Container:
    contract = a_contract(runtime={"container": image})
    head = repository.resolve("HEAD")
    assert head
    container = read_container(repository, contract, WorkTree(commit=head))
    assert isinstance(container, Container)
    return container


def test_a_contract_without_a_container_asks_nobody(repository: Repository) -> None:
    assert isinstance(read_container(repository, a_contract(), WorkTree(commit="12" * 20)), Nothing)


@pytest.mark.parametrize("scheme", ["", "docker://"])
def test_the_label_and_what_changed_since(
    repository: Repository, registry: ImageRegistry, scheme: str
) -> None:
    before = str(repository.resolve("HEAD^"))
    digest = registry.image({REVISION: before})
    image = f"{scheme}{registry.host}/lab/train@{digest}"
    assert read(repository, image) == Container(image, digest, before, True, ("README.md",))


def test_a_short_revision_is_found_here(repository: Repository, registry: ImageRegistry) -> None:
    before = str(repository.resolve("HEAD^"))[:8]
    registry.image({REVISION: before}, "v1")
    evidence = read(repository, f"{registry.host}/lab/train:v1")
    assert (evidence.revision, evidence.known_here, evidence.changed) == (
        before,
        True,
        ("README.md",),
    )


@pytest.mark.parametrize("revision", ["12" * 20, "main", "HEAD", "abc", ""])
def test_another_revision_is_reported_as_it_is(
    repository: Repository, registry: ImageRegistry, revision: str
) -> None:
    registry.image({REVISION: revision, "other": "label"}, "latest")
    evidence = read(repository, f"{registry.host}/lab/train")
    assert (evidence.revision, evidence.known_here, evidence.changed) == (
        revision or None,
        False,
        (),
    )


@pytest.mark.parametrize("labels", [None, {}, {"maintainer": "ada"}])
def test_no_label_is_no_revision(
    repository: Repository, registry: ImageRegistry, labels: dict[str, str] | None
) -> None:
    registry.image(labels, "v1")
    assert read(repository, f"{registry.host}/lab/train:v1").revision is None


def test_an_annotation_stands_in_for_the_label(
    repository: Repository, registry: ImageRegistry
) -> None:
    registry.image({}, "bare", annotations={REVISION: "12" * 20})
    assert read(repository, f"{registry.host}/lab/train:bare").revision == "12" * 20
    registry.image({REVISION: "34" * 20}, "both", annotations={REVISION: "12" * 20})
    assert read(repository, f"{registry.host}/lab/train:both").revision == "34" * 20


def test_an_index_leads_to_the_image_for_the_cluster(
    repository: Repository, registry: ImageRegistry
) -> None:
    images = {
        name: registry.image({REVISION: digit * 40})
        for name, digit in (("linux/arm64", "1"), ("linux/amd64", "2"))
    }
    attestation = {"unknown/unknown": registry.image({REVISION: "3" * 40})}
    digest = registry.index({**attestation, **images}, "all")
    evidence = read(repository, f"{registry.host}/lab/train:all")
    assert (evidence.digest, evidence.revision) == (digest, "2" * 40)
    registry.index({**attestation, "linux/arm64": images["linux/arm64"]}, "arm")
    assert read(repository, f"{registry.host}/lab/train:arm").revision == "1" * 40
    registry.index(attestation, "none")
    with pytest.raises(CouldNotLook, match=r"names.*image"):
        read(repository, f"{registry.host}/lab/train:none")


# --- logins ---------------------------------------------------------------------------------------


def logged_in(home: Path, host: str) -> None:
    auth = base64.b64encode(b"ada:hunter2").decode()
    (home / "config.json").write_text(json.dumps({"auths": {host: {"auth": auth}}}))


def test_an_anonymous_token(repository: Repository, registry: ImageRegistry) -> None:
    registry.login = "token"
    registry.image({REVISION: "12" * 20}, "v1")
    assert read(repository, f"{registry.host}/lab/train:v1").revision == "12" * 20
    assert registry.requests.count("/token") == 1


@pytest.mark.parametrize("login", ["password", "basic"])
def test_the_login_of_docker(
    home: Path, repository: Repository, registry: ImageRegistry, login: str
) -> None:
    registry.login = login
    registry.image({REVISION: "12" * 20}, "v1")
    with pytest.raises(CouldNotLook, match="docker login"):
        read(repository, f"{registry.host}/lab/train:v1")
    logged_in(home, registry.host)
    assert read(repository, f"{registry.host}/lab/train:v1").revision == "12" * 20


def test_a_credential_helper_of_docker(
    home: Path, repository: Repository, registry: ImageRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.login = "basic"
    registry.image({REVISION: "12" * 20}, "v1")
    helper = home / "docker-credential-here"
    helper.write_text(
        '#!/bin/sh\ncat > "$0.asked"\necho \'{"Username": "ada", "Secret": "hunter2"}\'\n'
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}:{os.environ['PATH']}")
    (home / "config.json").write_text('{"credsStore": "here"}')
    assert read(repository, f"{registry.host}/lab/train:v1").revision == "12" * 20
    assert Path(f"{helper}.asked").read_text() == registry.host
    helper.write_text("#!/bin/sh\ncat > /dev/null\nexit 1\n")
    with pytest.raises(CouldNotLook, match="docker login"):
        read(repository, f"{registry.host}/lab/train:v1")


def test_a_broken_configuration_of_docker_is_reported(
    home: Path, repository: Repository, registry: ImageRegistry
) -> None:
    registry.login = "basic"
    registry.image({}, "v1")
    for text in ("{", "[]", '{"auths": 3}'):
        (home / "config.json").write_text(text)
        with pytest.raises(CouldNotLook, match="docker's configuration"):
            read(repository, f"{registry.host}/lab/train:v1")


# --- no answer ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (401, "401"),
        (403, "403"),
        (404, "404"),
        (429, "429"),
        (500, "500"),
        ("malformed", "JSON"),
        ("list", "JSON object"),
        ("cut", "broke off"),
        ("hang", "time-out"),
    ],
)
def test_a_registry_that_fails_is_could_not_look(
    repository: Repository,
    registry: ImageRegistry,
    fault: int | str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("herorun.sources._registry._TIMES", (0.3, 0.3))
    registry.image({REVISION: "12" * 20}, "v1")
    registry.fault = fault
    with pytest.raises(CouldNotLook, match=text):
        read(repository, f"{registry.host}/lab/train:v1")


def test_nobody_there_and_no_such_image(repository: Repository, registry: ImageRegistry) -> None:
    with pytest.raises(CouldNotLook, match="404"):
        read(repository, f"{registry.host}/lab/train:other")
    with pytest.raises(CouldNotLook, match="no connection"):
        read(repository, "127.0.0.1:1/lab/train:v1")


def test_content_that_its_digest_denies_is_refused(
    repository: Repository, registry: ImageRegistry
) -> None:
    image = registry.image({REVISION: "12" * 20})
    registry.content[f"manifests/{image}"] = ("", b"{}")
    with pytest.raises(CouldNotLook, match="other content"):
        read(repository, f"{registry.host}/lab/train@{image}")


@pytest.mark.parametrize("content", [{}, {"config": 3}, {"manifests": []}, {"manifests": [3]}])
def test_what_is_no_image_is_reported(
    repository: Repository, registry: ImageRegistry, content: dict[str, object]
) -> None:
    registry.put("application/json", content, "v1")
    with pytest.raises(CouldNotLook, match="no image"):
        read(repository, f"{registry.host}/lab/train:v1")


@pytest.mark.parametrize(
    "image", ["oras://host/x", "UPPER/case", "a b", "train@sha256:xyz", "/images/sandbox"]
)
def test_what_no_registry_knows_is_reported(repository: Repository, image: str) -> None:
    with pytest.raises(CouldNotLook, match="image"):
        read(repository, image)


# --- image files ----------------------------------------------------------------------------------


def apptainer(home: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    tool = home / "bin" / "apptainer"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")


def test_an_image_file_is_read_by_its_tool(
    home: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"data": {"attributes": {"labels": {REVISION: "12" * 20}}}, "type": "container"}
    apptainer(
        home, monkeypatch, f'[ "$*" = "inspect --json train.sif" ] && echo \'{json.dumps(fields)}\''
    )
    assert read(repository, "train.sif") == Container("train.sif", None, "12" * 20)


@pytest.mark.parametrize("script", ["echo absent >&2; exit 255", "echo x", "echo '{}'"])
def test_a_tool_that_fails_is_could_not_look(
    home: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    apptainer(home, monkeypatch, script)
    with pytest.raises(CouldNotLook, match="apptainer inspect train"):
        read(repository, "train.sif")


def test_without_the_tool_nobody_can_look(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("herorun.sources.container.which", lambda _: None)
    with pytest.raises(CouldNotLook, match="machine"):
        read(repository, "train.sif")
