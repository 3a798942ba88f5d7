"""What a checkpoint is made of: every file by its name, size and, where a listing tells one, its checksum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herorun.core.canonical import canonical, digest, plain


@dataclass(frozen=True)
class FileSeen:
    """One file of a checkpoint, as a listing tells of it."""

    name: str  # relative to the checkpoint; empty where that is one file
    size: int  # bytes
    checksum: str = ""  # `kind:value`, as the store computed it; empty where its listing tells none


@dataclass(frozen=True)
class Manifest:
    """All files of one checkpoint, sorted by name."""

    path: str
    files: tuple[FileSeen, ...]

    @property
    def digest(self) -> str:
        return digest(plain(self))

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def proof(self) -> str:
        """What the manifest can prove, said aloud.

        >>> Manifest("/data/step-4", (FileSeen("weights", 8),)).proof
        'sizes alone: the store tells no checksums'
        >>> Manifest("gs://b/step-4", (FileSeen("weights", 8, "md5:aGk="),)).proof
        'checksums (md5) of all files'
        """
        kinds = sorted({file.checksum.partition(":")[0] for file in self.files if file.checksum})
        bare = sum(1 for file in self.files if not file.checksum)
        if not kinds:
            return "sizes alone: the store tells no checksums"
        rest = f"; {bare} of {len(self.files)} by their sizes alone" if bare else ""
        return f"checksums ({', '.join(kinds)}) of all{' other' if bare else ''} files{rest}"

    @property
    def text(self) -> str:
        return canonical(plain(self)) + "\n"

    @property
    def facts(self) -> dict[str, Any]:
        """Its identity and size, without the files."""
        return {
            "path": self.path,
            "digest": self.digest,
            "files": len(self.files),
            "bytes": self.bytes,
            "proof": self.proof,
        }


def manifest_from(told: Mapping[str, Any]) -> Manifest:
    """From its plain form; a ValueError, KeyError or TypeError where it is none."""
    files = (FileSeen(str(f["name"]), int(f["size"]), str(f.get("checksum", ""))) for f in told["files"])
    return Manifest(str(told["path"]), tuple(files))


def differences(before: Manifest, after: Manifest) -> tuple[str, ...]:
    """What is not as it was, one line a file. A checksum is compared where both listings told one of a kind."""
    then, there = ({file.name: file for file in each.files} for each in (before, after))
    lost = [f"{name or before.path} is gone" for name in sorted(then.keys() - there.keys())]
    new = [f"{name or before.path} is new" for name in sorted(there.keys() - then.keys())]
    both = sorted(then.keys() & there.keys())
    changed = [words for name in both if (words := _changed(then[name], there[name]))]
    return (*lost, *new, *changed)


def _changed(then: FileSeen, there: FileSeen) -> str:
    if then.size != there.size:
        return f"{then.name} has {there.size} bytes and had {then.size}"
    kinds = {each.checksum.partition(":")[0] for each in (then, there)}
    if len(kinds) == 1 and then.checksum != there.checksum:
        return f"{then.name} has another checksum than it had"
    return ""
