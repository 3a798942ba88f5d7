"""Reads an image's metadata from its registry, by the OCI distribution protocol."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from herorun.core.code.image_reference import ImageReference
from herorun.core.errors import CouldNotLook
from herorun.sources._docker_login import docker_login

_TIMES = (10.0, 20.0)  # seconds to connect, and between two bytes
_MAX_BYTES = 4 << 20  # bytes of a manifest or a config
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
REVISION = "org.opencontainers.image.revision"


def ask_image(image: ImageReference) -> tuple[str, str | None]:
    """`(digest, revision)` of an image: the label of its config, or else the annotation of its
    manifest.
    """
    registry = _Registry(image)
    digest, manifest = registry.get(f"manifests/{image.version}")
    label_sets = [_texts(manifest, "annotations")]
    if isinstance(manifest.get("manifests"), list):
        _, manifest = registry.get(f"manifests/{_best(manifest['manifests'])}")
        label_sets.insert(0, _texts(manifest, "annotations"))
    config = manifest.get("config")
    if not isinstance(config, dict) or "digest" not in config:
        raise CouldNotLook(f"{image.host} answered with no image manifest.")
    _, settings = registry.get(f"blobs/{config['digest']}")
    label_sets.insert(0, _texts(settings.get("config"), "Labels"))
    return digest, next((texts[REVISION] for texts in label_sets if texts.get(REVISION)), None)


def _best(manifests: list[Any]) -> str:
    """The digest of the image for a Linux cluster; entries of an index that are no images, such as
    attestations, have no platform.
    """
    images = [one for one in manifests if isinstance(one, dict) and _platform(one)[0] != "unknown"]
    images.sort(key=lambda one: _platform(one) != ("linux", "amd64"))
    if not images or not isinstance(images[0].get("digest"), str):
        raise CouldNotLook("The image's index names no image.")
    return str(images[0]["digest"])


def _platform(one: Mapping[str, Any]) -> tuple[str, str]:
    platform = _texts(one, "platform")
    return platform.get("os", ""), platform.get("architecture", "")


def _texts(data: Any, key: str) -> dict[str, str]:
    table = data.get(key) if isinstance(data, dict) else None
    return {k: v for k, v in table.items() if isinstance(v, str)} if isinstance(table, dict) else {}


class _Registry:
    """One image's registry, with the authorization that it requires."""

    def __init__(self, image: ImageReference) -> None:
        self.image = image
        self.authorization = ""

    def get(self, path: str) -> tuple[str, dict[str, Any]]:
        """`(digest, content)` of a manifest or a blob. Content that does not match its digest is
        refused.
        """
        answer = self._ask(f"{self.image.url}/{path}")
        if answer.status_code == 401 and not self.authorization:
            self.authorization = self._authorize(answer.headers.get("WWW-Authenticate", ""))
            answer = self._ask(f"{self.image.url}/{path}")
        data = _read_answer(answer, self.image.host)
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        reference = path.rpartition("/")[2]
        if reference.startswith("sha256:") and reference != digest:
            raise CouldNotLook(
                f"{self.image.host} answered with other content than {reference} names."
            )
        return digest, parsed_json(data, self.image.host)

    def _ask(self, url: str, authorization: str | None = None) -> Any:
        import requests

        credentials = self.authorization if authorization is None else authorization
        headers = {"Accept": ", ".join((*_INDEXES, *_MANIFESTS))}
        try:
            return requests.get(
                url, headers=headers, auth=_Header(credentials), timeout=_TIMES, stream=True
            )
        except (requests.RequestException, ValueError) as error:
            raise CouldNotLook(
                f"{self.image.host} gave no answer: {_error_without_url(error)}."
            ) from None

    def _authorize(self, challenge: str) -> str:
        """Get a token: anonymously, or with docker's credentials for this host."""
        basic = docker_login(self.image.host)
        kind, _, parameter_text = challenge.partition(" ")
        if kind.lower() == "basic" and basic:
            return basic
        parameters = dict(re.findall(r'(\w+)="([^"]*)"', parameter_text))
        realm = parameters.get("realm", "")
        if kind.lower() != "bearer" or not realm.startswith(
            ("https://", "http://127.0.0.1", "http://localhost")
        ):
            raise CouldNotLook(
                f"{self.image.host} asks for a login (401): `docker login {self.image.host}`."
            )
        from urllib.parse import urlencode

        scope = parameters.get("scope") or f"repository:{self.image.repository}:pull"
        query = urlencode({"service": parameters.get("service", ""), "scope": scope})
        answer = parsed_json(
            _read_answer(self._ask(f"{realm}?{query}", basic), self.image.host), self.image.host
        )
        token = answer.get("token") or answer.get("access_token")
        if not isinstance(token, str):
            raise CouldNotLook(
                f"{self.image.host} gave no token to read {self.image.repository} with."
            )
        return f"Bearer {token}"


class _Header:
    """An authorization that requests sends unchanged, instead of one from `.netrc`."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __call__(self, request: Any) -> Any:
        if self.value:
            request.headers["Authorization"] = self.value
        return request


def _read_answer(answer: Any, host: str) -> bytes:
    import requests

    if answer.status_code in (401, 403):
        raise CouldNotLook(
            f"{host} does not let us read the image ({answer.status_code}): `docker login {host}`."
        )
    if answer.status_code == 404:
        raise CouldNotLook(f"{host} has no such image, or hides it from us (404).")
    if answer.status_code != 200:
        raise CouldNotLook(f"{host} answered {answer.status_code}.")
    data = b""
    try:
        for part in answer.iter_content(1 << 16):
            data += part
            if len(data) > _MAX_BYTES:
                raise CouldNotLook(f"{host} answered with more than {_MAX_BYTES >> 20} MiB.")
    except requests.RequestException as error:
        raise CouldNotLook(f"{host} broke off its answer: {_error_without_url(error)}.") from None
    return data


def parsed_json(data: bytes, host: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CouldNotLook(f"{host} answered with something other than a JSON object.")
    return document


def _error_without_url(error: Exception) -> str:
    """The error without the URL, which may contain a token."""
    import requests

    if isinstance(error, requests.Timeout):
        return "time-out"
    return "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__
