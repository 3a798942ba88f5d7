"""git: every call with an allow-listed environment, bytes, `-z` where there are names, and a deadline.

GitPython finds the repository; the calls and their parsing are ours, because a wrong answer here is a wrong
launch. Nothing in this module touches HEAD, the index, the stash, the work tree or the configuration.
"""

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.scrub import scrub
from herorun.system.loose import Elsewhere, Loose
from herorun.system.process import Answer, run

LOCAL = 60.0  # seconds for what stays on this machine
REMOTE = 120.0  # seconds for what asks a remote
FRESH = 60.0  # seconds that a setting holds, where none of the files changes that it is most likely in
_ASK = ("ls-remote", "fetch", "push", "checkout-index")  # remotes; the last one in a partial clone
_BATCH = "-oBatchMode=yes"
_SSH = f"ssh {_BATCH}"
_KEPT = (
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_SSL_CAINFO",
    "GIT_SSL_NO_VERIFY",
    "GIT_PROXY_COMMAND",
)
_FLAGS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsync=committed,reference",
    "-c",
    "core.quotePath=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)


def environment() -> dict[str, str]:
    """The caller's environment without git's own variables, which would point at another repository or index."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("GIT_") or k in _KEPT or k.startswith("GIT_CONFIG_")
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ASKPASS": kept.get("GIT_ASKPASS", "true"),
        **({} if {"GIT_SSH", "GIT_SSH_COMMAND"} & kept.keys() else {"GIT_SSH_COMMAND": _SSH}),
    }


def _ssh(configured: str | None) -> dict[str, str]:
    """The user's own `core.sshCommand`, which a variable would stand before; ssh itself is told to ask nobody."""
    if not configured or "GIT_SSH_COMMAND" in os.environ:
        return {}
    plain = configured.split()[0].rpartition("/")[2] == "ssh"
    return {"GIT_SSH_COMMAND": f"{configured} {_BATCH}" if plain else configured}


@lru_cache(maxsize=512)
def _set(repository: "Repository", asked: tuple[str, ...], ok: tuple[int, ...], known: object) -> Answer:
    """What git says of its settings, each time the same while `known` is."""
    return repository.git(*asked, ok=ok)


def _known(repository: "Repository") -> object:
    """What changes where the user changes a setting, so that a babysitter heeds it; what files include, in a minute."""
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    inside = [f"{repository.common}/{name}" for name in ("config", "config.worktree")]
    files = (*inside, f"{home}/.gitconfig", f"{own}/git/config")
    told = tuple(sorted((k, v) for k, v in os.environ.items() if k.startswith("GIT_CONFIG_")))
    return (*map(_stamp, files), home, own, told, int(monotonic() / FRESH))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class GitFailed(CouldNotLook):
    """A git call ended with an error."""

    def __init__(self, args: Sequence[str], answer: Answer) -> None:
        asked = args[0] in ("ls-remote", "fetch", "push")
        named = [args[0], *([arg for arg in args[1:] if not arg.startswith("-")][:1] if asked else [])]
        super().__init__(f"`git {' '.join(named)}` failed: {_complaint(answer)}")
        self.answer = answer


_REASON = re.compile(r"(?:ssh|fatal|error|ERROR|remote|!):? +(?=\S)")
_REMOTE = re.compile(r"^(\S+)\t(.*) \((fetch|push)\)", re.MULTILINE)
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_REASON = "Could not read from remote repository."
_DISTRUSTED = re.compile(r"in repository at '([^'\n]+)'")


def _complaint(answer: Answer) -> str:
    """The first line that says what is wrong; git ends with advice that fits anything."""
    lines = [line.strip() for line in answer.err.decode("utf-8", "backslashreplace").splitlines()]
    lines = [line for line in lines if line]
    at = next((n for n, line in enumerate(lines) if _REASON.match(line)), len(lines) - 1)
    if at > 0 and lines[at].endswith(_NO_REASON):
        at -= 1  # ssh or the host said why, in words of its own
    told = lines[at] if lines else answer.complaint
    return scrub(re.sub(r"^(?:(?:fatal|error|ERROR|remote): +)+", "", told))[:300].rstrip(".")


@dataclass(frozen=True)
class Repository:
    """A git work tree, and the calls that herorun makes in it."""

    top: Path  # of this work tree
    common: Path  # the git directory that all work trees share

    @property
    def main(self) -> Path:
        """The main work tree: local state lives there, shared by all linked ones."""
        return self.common.parent if self.common.name == ".git" else self.top

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        timeout: float = LOCAL,
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
        settings: Sequence[str] = (),
    ) -> Answer:
        """Run git here, with `key=value` settings for this call; an exit code that is not `ok` is a `GitFailed`."""
        words = ("git", *_FLAGS, *(word for each in settings for word in ("-c", each)), *args)
        ssh = _ssh(self.config("core.sshCommand")) if args[0] in _ASK else {}
        everywhere = {**environment(), **ssh, **(env or {})}
        try:
            answer = run(words, timeout, cwd=str(self.top), env=everywhere, stdin=stdin)
        except CouldNotLook as error:  # which names the second word
            raise CouldNotLook(str(error).replace(f"git {_FLAGS[0]}", f"git {args[0]}")) from None
        if answer.code not in ok:
            raise GitFailed(args, answer)
        return answer

    def loose(self, ref: str) -> str | None:
        """The object that the file of one of our own refs names; None where git keeps it elsewhere, or it is damaged."""
        try:
            told = (self.common / ref).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None
        return told if _OBJECT.fullmatch(told) else None

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Ref name -> object, of all refs below these."""
        rows = self.git("for-each-ref", "--format=%(objectname) %(refname)", *prefixes).text.splitlines()
        return {name: oid for oid, _, name in (row.partition(" ") for row in rows)}

    @property
    def _loose(self) -> Loose:
        return Loose(self.common / "objects")

    def _commit(self, name: str) -> str:
        """The commit that its own digest, a ref or HEAD names; `Elsewhere` where that is not plain from their files."""
        oid: str | None = name
        if name == "HEAD":
            with contextlib.suppress(OSError, ValueError):  # in a linked work tree it lies elsewhere
                name = (self.top / ".git" / name).read_text(encoding="ascii").strip().removeprefix("ref: ")
        if not _OBJECT.fullmatch(name):
            oid = self.loose(name) if name.startswith("refs/") else None
        if oid is None:
            raise Elsewhere(name)
        self._loose.content(oid, b"commit")
        return oid

    def resolve(self, name: str) -> str | None:
        """The commit that a ref stands for; None if there is no such ref. A damaged one is `CouldNotLook`."""
        try:
            return self._commit(name)
        except Elsewhere:
            return None if name.startswith("refs/") and self._lacks(name) else self._resolved(name)

    def _lacks(self, ref: str) -> bool:
        """Whether git has no such ref, where it keeps them as files: its own file goes only after it is packed."""
        try:
            if not (self.common / "refs" / "heads").is_dir() or os.path.lexists(self.common / ref):
                return False
            return f" {ref}\n".encode() not in (self.common / "packed-refs").read_bytes()
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def _resolved(self, name: str) -> str | None:
        if name.startswith("refs/"):  # one call also where there is none
            listed = self.git(
                "for-each-ref", "--format=%(objecttype) %(refname) %(objectname)", name, ok=(0, 128)
            )
            told = listed.text.split()
            if listed.code == 0 and not listed.err and (not told or told[:2] == ["commit", name]):
                return told[2] if told else None
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        answer = self.git(*asked, f"{name}^{{commit}}", ok=(0, 1, 128))
        if answer.code == 0:
            return answer.text.strip()
        if self.git(*asked, name, ok=(0, 1, 128)).code == 0 or b"broken ref" in answer.err:
            raise CouldNotLook(f"{name} or its commit is damaged in {self.common}: `git fsck` tells more.")
        return None

    def read(self, commit: str, paths: Sequence[str]) -> dict[str, bytes | None]:
        """The content of files in a commit, in one call at most; None for a path that is not there."""
        try:
            known, loose = self._commit(commit), self._loose
            return {path: loose.file(known, path) for path in paths}
        except Elsewhere:
            return self._read(commit, paths)

    def _read(self, commit: str, paths: Sequence[str]) -> dict[str, bytes | None]:
        asked = b"".join(f"{commit}:{path}\n".encode("utf-8", "surrogateescape") for path in paths)
        out = self.git("cat-file", "--batch", stdin=asked).out
        found: dict[str, bytes | None] = {}
        at = 0
        for path in paths:
            end = out.index(b"\n", at)
            header = out[at:end].split(b" ")
            if len(header) == 3 and b":" not in header[0]:  # else it is `<commit>:<path> missing`
                size = int(header[2])
                body = out[end + 1 : end + 1 + size]
                found[path] = body if header[1] == b"blob" else None
                at = end + 1 + size + 1
            else:
                found[path] = None
                at = end + 1
        self._must_be_missing(commit, [path for path, data in found.items() if data is None])
        return found

    def _must_be_missing(self, commit: str, paths: Sequence[str]) -> None:
        """`cat-file` says "missing" of a path that is not in the commit, and of one whose content is lost."""
        if not paths:
            return
        try:
            listed = self.git("ls-tree", "-z", "--full-tree", commit, "--", *paths)
        except GitFailed:
            if not _OBJECT.fullmatch(commit) or self.has(commit):
                raise
            how = "--unshallow" if (self.common / "shallow").exists() else "--all"
            said = f"Commit {commit[:9]} is not in this clone, {self.top}: `git fetch {how}` brings it"
            raise CouldNotLook(f"{said} if a remote still has it.") from None
        for mode, oid, path in _rows(listed):
            if mode.startswith("100") and path in paths:
                raise CouldNotLook(
                    f"{path} in commit {commit[:9]} is damaged: object {oid[:9]} cannot be read, `git fsck` tells more."
                )

    def blobs(self, oids: Sequence[str]) -> dict[str, bytes]:
        """The content of objects, in one call at most; one that cannot be read is `CouldNotLook`."""
        try:
            loose = self._loose
            return {oid: loose.content(oid, b"blob") for oid in oids}
        except Elsewhere:
            return self._blobs(oids)

    def _blobs(self, oids: Sequence[str]) -> dict[str, bytes]:
        out = self.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode()).out
        found, at = {}, 0
        for oid in oids:
            end = out.index(b"\n", at)
            size = out[at:end].rsplit(b" ", 1)[1]
            if size == b"missing":
                raise CouldNotLook(f"Object {oid[:9]} is damaged or missing: `git fsck` tells more.")
            found[oid] = out[end + 1 : end + 1 + int(size)]
            at = end + 1 + int(size) + 1
        return found

    def entries(self, commit: str, folder: str = "") -> list[tuple[str, str, str]]:
        """`(mode, object, path)` of every file in a commit, or under one folder of it, relative to that."""
        with contextlib.suppress(Elsewhere):
            return self._loose.files(self._commit(commit), folder)
        inside = f"{folder}/" if folder else ""
        within = ("--", inside) if folder else ()
        answer = self.git("ls-tree", "-r", "-z", "--full-tree", commit, *within)
        return [(mode, oid, path.removeprefix(inside)) for mode, oid, path in _rows(answer)]

    def names(self, commit: str, folder: str) -> list[str]:
        """The paths of the files that lie in one folder of a commit, not of those below it."""
        try:
            found = self._loose.names(self._commit(commit), folder)
            rows = [(mode, oid, f"{folder}/{name}") for mode, oid, name in found]
        except Elsewhere:
            rows = _rows(self.git("ls-tree", "-z", "--full-tree", commit, "--", f"{folder}/"))
        return [path for mode, _, path in rows if mode.startswith("100")]

    def remotes(self) -> dict[str, str]:
        """Remote names and the URLs that git really uses, credentials removed; where pushes go elsewhere, that too."""
        rows = _REMOTE.findall(_set(self, ("remote", "--verbose"), (0,), _known(self)).text)
        read = {name: url for name, url, way in rows if way == "fetch"}
        written = {(name, url) for name, url, way in rows if way == "push"} - set(read.items())
        told = {name: f"{read[name]} (pushes go to {url})" for name, url in sorted(written) if name in read}
        return {name: scrub(url) for name, url in (read | told).items()}

    def remote_tips(self, remote: str, *patterns: str, timeout: float = REMOTE) -> dict[str, str]:
        """Ref name -> object on the remote, as it answers now."""
        answer = self.git("ls-remote", "--quiet", remote, *patterns, timeout=timeout)
        rows = (line.partition("\t") for line in answer.text.splitlines())
        return {name: oid for oid, _, name in rows if name}

    def config(self, key: str) -> str | None:
        answer = _set(self, ("config", "--get", key), (0, 1), _known(self))
        return answer.text.strip() or None if answer.code == 0 else None

    def has(self, commit: str) -> bool:
        return self.git("cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128)).code == 0

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.git("merge-base", "--is-ancestor", old, new, ok=(0, 1)).code == 0


def _rows(listed: Answer) -> list[tuple[str, str, str]]:
    """What `ls-tree -z` printed."""
    rows = []
    for record in listed.text.split("\0"):
        if record:
            facts, _, path = record.partition("\t")
            mode, _, oid = facts.split(" ")
            rows.append((mode, oid, path))
    return rows


def find_repository(start: Path) -> Repository:
    """The repository around a folder; `WrongUse` says what is wrong with it."""
    if not start.exists():
        raise WrongUse(f"{start} does not exist.")
    return _found(start.absolute())  # what is said of it must hold in another folder too


@lru_cache(maxsize=256)
def _found(start: Path) -> Repository:
    """Looked for once a process: a babysitter of a thousand runs asks as often, round after round.

    GitPython takes longer to import than git to answer, so it is asked only for what git's answer leaves open.
    """
    words = ("git", "rev-parse", "--show-toplevel", "--git-common-dir")
    answer = run(words, LOCAL, cwd=str(start if start.is_dir() else start.parent), env=environment())
    if answer.code:
        raise WrongUse(_why_not(start, _complaint(answer)))
    told = answer.text.splitlines()
    top, common = told if len(told) == 2 else _with_line_breaks(start)
    return Repository(Path(top).resolve(), (start / common).resolve())


def _with_line_breaks(start: Path) -> tuple[str, str]:
    """The two folders, where a name in them holds a line break."""
    from git import Repo

    with Repo(start, search_parent_directories=True) as found:
        return str(found.working_tree_dir), str(found.common_dir)


def _is_bare(start: Path) -> bool:
    from git import Repo
    from git.exc import GitError

    try:
        with Repo(start, search_parent_directories=True) as found:
            return found.bare
    except (GitError, ValueError, OSError):
        return False


def _why_not(start: Path, complaint: str) -> str:
    if "dubious ownership" in complaint:
        told = _DISTRUSTED.search(complaint)
        top = told[1] if told else start
        return (
            f"git does not trust {top}, because another user owns it. If you do: "
            f"`git config --global --add safe.directory {top}`."
        )
    if _is_bare(start):
        return f"{start} is in a bare git repository: run herorun in a work tree."
    return f"{start} is not in a git repository: run herorun in the repository of the training code, or name it with -C."
