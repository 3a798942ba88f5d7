"""The first commit of a work tree, without the two processes that it takes git: nearly a thousand
tests begin with one.
"""

import hashlib
import os
import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path

BRANCH = "refs/heads/main"


def commit_first(work: Path, author: str, message: str) -> None:
    """What `git add --all` and `git commit` leave in a repository without a commit."""
    paths = sorted(
        path.relative_to(work).as_posix()
        for path in work.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(work).parts
    )
    folder = work / ".git"
    blobs = {path: _write(folder, b"blob", (work / path).read_bytes()) for path in paths}
    (folder / "index").write_bytes(_index(work, blobs))
    stamp = f"{author} {int(time.time())} +0000"
    text = f"tree {_tree(folder, blobs).hex()}\nauthor {stamp}\ncommitter {stamp}\n\n{message}\n"
    ref = folder / BRANCH
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(_write(folder, b"commit", text.encode()).hex() + "\n")


def _write(folder: Path, kind: bytes, content: bytes) -> bytes:
    """Store a loose object; its id."""
    whole = b"%s %d\0%s" % (kind, len(content), content)
    oid = hashlib.sha1(whole)
    path = folder / "objects" / oid.hexdigest()[:2] / oid.hexdigest()[2:]
    path.parent.mkdir(exist_ok=True)
    if not path.exists():  # only root could write it again
        path.write_bytes(zlib.compress(whole, 1))
        path.chmod(0o444)
    return oid.digest()


def _tree(folder: Path, blobs: Mapping[str, bytes]) -> bytes:
    rows: dict[str, bytes] = {}  # git sorts a folder as if its name ended in a slash
    below: dict[str, dict[str, bytes]] = {}
    for path, oid in blobs.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = oid
        else:
            rows[name] = b"100644 %s\0%s" % (name.encode(), oid)
    for name, inner in below.items():
        rows[name + "/"] = b"40000 %s\0%s" % (name.encode(), _tree(folder, inner))
    return _write(folder, b"tree", b"".join(rows[name] for name in sorted(rows)))


def _index(work: Path, blobs: Mapping[str, bytes]) -> bytes:
    """Version 2 of git's index: https://git-scm.com/docs/index-format."""
    entries = b"".join(_entry(os.stat(work / path), path.encode(), blobs[path]) for path in blobs)
    content = struct.pack(">4sLL", b"DIRC", 2, len(blobs)) + entries
    return content + hashlib.sha1(content).digest()


def _entry(stat: os.stat_result, name: bytes, oid: bytes) -> bytes:
    times = (*divmod(stat.st_ctime_ns, 10**9), *divmod(stat.st_mtime_ns, 10**9))
    numbers = (stat.st_dev, stat.st_ino, 0o100644, stat.st_uid, stat.st_gid, stat.st_size)
    fields = struct.pack(">10L", *(number & 0xFFFFFFFF for number in (*times, *numbers)))
    entry = fields + oid + struct.pack(">H", len(name)) + name
    return entry + b"\0" * (8 - len(entry) % 8)
