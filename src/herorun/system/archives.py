"""The files of an archive, in the form in which git lists a commit."""

import hashlib
import io
import posixpath
import stat
from collections.abc import Iterable, Iterator
from typing import IO

Listed = dict[str, tuple[str, str]]  # path -> mode, object; a mode of "" is unknown
_FILE, _PROGRAM, _LINK = "100644", "100755", "120000"
_ODD = "special file"  # a device or a pipe, which no commit can contain
CHUNK = 1 << 20


def archive_files(data: bytes, algorithm: str) -> Listed:
    """The files of a tar, gzipped or not, or a zip. If a name occurs twice, the last one counts, as
    when it is unpacked.

    `algorithm` is that of the repository's objects, sha1 or sha256. OSError if the archive is
    incomplete or invalid.
    """
    from tarfile import TarError
    from zipfile import BadZipFile

    try:
        rows = _zip(data, algorithm) if data[:2] == b"PK" else _tar(data, algorithm)
        return {_normalise_member(path): (mode, oid) for path, mode, oid in rows}
    except (TarError, BadZipFile, EOFError, OSError, ValueError) as error:
        raise OSError(f"the bundle is an incomplete archive: {error}") from None


def without_folder(files: Listed, commit_paths: Iterable[str]) -> Listed:
    """Without the one folder that `git archive --prefix` puts around everything;
    `commit_paths` are the paths of the commit.
    """
    tops = {path.partition("/")[0] for path in files if "/" in path} | {
        p for p in files if "/" not in p
    }
    (top,) = tops if len(tops) == 1 else ("",)
    if not top or top in files or any(path.startswith(f"{top}/") for path in commit_paths):
        return files
    return {path.removeprefix(f"{top}/"): facts for path, facts in files.items()}


def files_digest(files: Listed) -> str:
    """The digest of the files' content: the same files have the same digest in any archive."""
    rows = sorted(
        (path.encode("utf-8", "surrogateescape"), mode or _FILE, oid)
        for path, (mode, oid) in files.items()
    )
    text = b"\0".join(f"{mode} {oid} ".encode() + path for path, mode, oid in rows)
    return "sha256:" + hashlib.sha256(text).hexdigest()


def _normalise_member(path: str) -> str:
    """The path as the commit spells it; a path that leads out of the folder, or is absolute, is
    unchanged.
    """
    return path if path.startswith("/") or ".." in path.split("/") else posixpath.normpath(path)


def _tar(data: bytes, algorithm: str) -> Iterator[tuple[str, str, str]]:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as tar:
        for member in tar:
            if member.isdir():
                continue
            if member.issym():
                yield (
                    member.name,
                    _LINK,
                    _object(member.linkname.encode("utf-8", "surrogateescape"), algorithm),
                )
                continue
            content = tar.extractfile(member) if member.isreg() or member.islnk() else None
            if content is None:
                yield member.name, _ODD, ""
                continue
            size = content.seek(0, io.SEEK_END)
            content.seek(0)
            mode = _PROGRAM if member.mode & stat.S_IXUSR else _FILE
            yield member.name, mode, _hash_blob(content, size, algorithm)


def _zip(data: bytes, algorithm: str) -> Iterator[tuple[str, str, str]]:
    from zipfile import ZipFile

    with ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            bits = member.external_attr >> 16
            mode = (
                _LINK
                if stat.S_ISLNK(bits)
                else _PROGRAM
                if bits & stat.S_IXUSR
                else _FILE
                if bits
                else ""
            )
            with archive.open(member) as content:
                yield member.filename, mode, _hash_blob(content, member.file_size, algorithm)


def _hash_blob(content: IO[bytes], size: int, algorithm: str) -> str:
    hasher = hashlib.new(algorithm, f"blob {size}\0".encode(), usedforsecurity=False)
    while chunk := content.read(CHUNK):
        hasher.update(chunk)
    return hasher.hexdigest()


def _object(data: bytes, algorithm: str) -> str:
    return _hash_blob(io.BytesIO(data), len(data), algorithm)
