"""The name of a container image, in its parts."""

import re

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_PARTS = lazy_regex(
    r"(?P<name>[^:@]+(?::\d+/[^:@]+)?)(?::(?P<tag>[\w.-]+))?(?:@(?P<digest>[a-z0-9]+:[0-9a-f]{32,}))?"
)
_WORD = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = lazy_regex(f"{_WORD}(?:/{_WORD})*")
_DEFAULT = "docker.io"  # whose images are written without a host


@dataclass(frozen=True)
class ImageReference:
    """`host/repository:tag@digest`; the digest wins over the tag."""

    host: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    @property
    def version(self) -> str:
        return self.digest or self.tag or "latest"

    @property
    def url(self) -> str:
        """Where its registry answers. On this machine alone it may do so without TLS."""
        bare = self.host.rpartition(":")[0] or self.host
        plain = bare in ("localhost", "[::1]") or re.fullmatch(r"127(\.\d{1,3}){3}", bare)
        host = f"registry-1.{_DEFAULT}" if self.host == _DEFAULT else self.host
        return f"{'http' if plain else 'https'}://{host}/v2/{self.repository}"


def parse_image(text: str) -> ImageReference | None:
    """The parts of a name as people write it; None if it is none.

    >>> parse_image("ghcr.io/lab/train:v1").repository
    'lab/train'
    """
    match = _PARTS.fullmatch(text.removeprefix("docker://"))
    if not match:
        return None
    first, _, path = match["name"].partition("/")
    has_host = path and (first == "localhost" or "." in first or ":" in first)
    host, repository = (first, path) if has_host else (_DEFAULT, match["name"])
    if host == _DEFAULT and "/" not in repository:
        repository = f"library/{repository}"
    if not _REPOSITORY.fullmatch(repository):
        return None
    return ImageReference(host, repository, match["tag"], match["digest"])
