"""What herorun reads in a repository: refs, content, remotes."""

import contextlib
import os
from collections.abc import Sequence

from herorun.core.errors import CouldNotLook, attach_root
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.system.git.calls import GitCalls
from herorun.system.git.loose_objects import (
    OBJECT,
    NotLoose,
    head_target,
    is_broken_file,
    packed_ref,
    packed_refs,
    ref_text,
)
from herorun.system.git.packed_objects import ObjectDatabase
from herorun.system.git.parse import (
    batch_entries,
    ls_tree_rows,
    remote_urls,
    remotes_set,
)
from herorun.system.git.run import REMOTE, GitFailed

_OF_ONE_WORK_TREE = ("refs/bisect/", "refs/rewritten/", "refs/worktree/")


@dataclass(frozen=True)
class Repository(GitCalls):
    """A git work tree, and what herorun reads in it."""

    def loose(self, ref: str) -> str | None:
        """The object that the file of one of our own refs names; None where git keeps it elsewhere,
        or it is damaged.
        """
        try:
            text = ref_text(f"{self.common}/{ref}")
        except OSError:
            return None
        return text if OBJECT.fullmatch(text) else None

    def is_broken(self, ref: str) -> bool:
        """Whether git may call a ref missing, or take it for its older packed value, although it
        has a file.
        """
        return is_broken_file(f"{self.common}/{ref}")

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Ref name -> object, of all refs below these."""
        rows = self.git(
            "for-each-ref", "--format=%(objectname) %(refname)", *prefixes
        ).text.splitlines()
        return {name: oid for oid, _, name in (row.partition(" ") for row in rows)}

    def ref_object(self, ref: str) -> str | None:
        """The object that one of our own refs names, in a file of its own or among the packed refs;
        None where there is no such ref, or only git can tell.

        A packed value counts only where the ref has no file: it is older than any that has.
        """
        if ref.startswith(_OF_ONE_WORK_TREE):
            return None
        try:
            text = ref_text(f"{self.common}/{ref}")
        except IsADirectoryError:  # of other refs
            return packed_ref(str(self.common), ref)
        except FileNotFoundError:  # also for a link to nothing
            is_absent = not os.path.lexists(f"{self.common}/{ref}")
            return packed_ref(str(self.common), ref) if is_absent else None
        except OSError:
            return None
        return text if OBJECT.fullmatch(text) else None

    @property
    def _objects(self) -> ObjectDatabase:
        return ObjectDatabase(f"{self.common}/objects")

    def _commit(self, name: str) -> str:
        """The commit that its own digest, a ref or HEAD names; `NotLoose` where that is not plain
        from their files.
        """
        if name == "HEAD":  # in a linked work tree it lies elsewhere
            name = head_target(self.top / ".git" / name)
        oid: str | None = name
        if not OBJECT.fullmatch(name):
            oid = self.ref_object(name) if name.startswith("refs/") else None
        if oid is None:
            raise NotLoose(name)
        self._objects.top(oid)
        return oid

    def resolve(self, name: str) -> str | None:
        """The commit that a ref stands for; None if there is no such ref. A damaged one is
        `CouldNotLook`.
        """
        try:
            return self._commit(name)
        except NotLoose:
            return (
                None if name.startswith("refs/") and self.lacks(name) else self._resolve_ref(name)
            )

    def lacks(self, ref: str) -> bool:
        """Whether git has no such ref, where it keeps them as files: its own file goes only after
        it is packed.
        """
        return self._is_nowhere(ref, f" {ref}\n")

    def lacks_below(self, folder: str) -> bool:
        """Whether git has no ref in a folder as `refs/replace/`; False also where only git can
        tell.
        """
        return self._is_nowhere(folder.rstrip("/"), f" {folder}")

    def _is_nowhere(self, path: str, text: str) -> bool:
        # text instead of `Path`s: `status --all` asks sixteen times for each run
        heads, ref = f"{self.common}/refs/heads", f"{self.common}/{path}"
        if path.startswith(_OF_ONE_WORK_TREE) or not os.path.isdir(heads):
            return False
        try:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.lstat(ref)  # after another error it may be there
                return False
            return os.fsencode(text) not in packed_refs(str(self.common))
        except FileNotFoundError:
            return True
        except (OSError, NotLoose):
            return False

    def _resolve_ref(self, name: str) -> str | None:
        if name.startswith("refs/") and not self.is_broken(name):
            # one call also where there is none
            listing = self.git(
                "for-each-ref", "--format=%(objecttype) %(refname) %(objectname)", name, ok=(0, 128)
            )
            fields = listing.text.split()
            if (
                listing.code == 0
                and not listing.err
                and (not fields or fields[:2] == ["commit", name])
            ):
                return fields[2] if fields else None
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        answer = self.git(*arguments, f"{name}^{{commit}}", ok=(0, 1, 128))
        if answer.code == 0:
            return answer.text.strip()
        if (
            self.git(*arguments, name, ok=(0, 1, 128)).code == 0
            or b"broken ref" in answer.err
            or self.is_broken(self._branch() if name == "HEAD" else name)
        ):
            raise CouldNotLook(
                f"{name} or its commit is damaged in {self.common}: `git fsck` shows more."
            )
        return None

    def _branch(self) -> str:
        """What HEAD names; `git symbolic-ref` refuses to say so where that is damaged."""
        place = self.git("rev-parse", "--git-path", "HEAD", ok=(0, 128)).text.strip()
        return head_target(self.top / place)

    def read(
        self, commit: str, paths: Sequence[str], most: int | None = None
    ) -> dict[str, bytes | None]:
        """The content of files in a commit, in one call at most; None for a path that is not there.

        One of more than `most` bytes is `CouldNotLook`, before it is read.
        """
        try:
            oid, objects = self._commit(commit), self._objects
            return {path: objects.file(oid, path, most) for path in paths}
        except NotLoose:
            if most is not None:
                self._must_be_small([f"{commit}:{path}" for path in paths], most)
            return self._read(commit, paths)

    def _must_be_small(self, names: Sequence[str], most: int) -> None:
        """Sizes are asked first: what compresses well fills the memory from a small repository."""
        request = b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names)
        rows = self.git("cat-file", "--batch-check=%(objectsize)", stdin=request).text.splitlines()
        total = 0
        for name, size in zip(names, rows, strict=True):
            total += int(size) if size.isdecimal() else 0
            if (size.isdecimal() and int(size) > most) or total > 8 * most:
                raise CouldNotLook(
                    f"{name[-200:]} in {self.top} is too large: {total >> 20} MiB up to it, and "
                    f"{most >> 20} MiB are read of one such file, {most >> 17} MiB of all. "
                    "Nothing was read."
                )

    def _read(self, commit: str, paths: Sequence[str]) -> dict[str, bytes | None]:
        request = b"".join(
            f"{commit}:{path}\n".encode("utf-8", "surrogateescape") for path in paths
        )
        out = self.git("cat-file", "--batch", stdin=request).out
        contents = {
            path: entry.content if entry and entry.kind == b"blob" else None
            for path, entry in zip(paths, batch_entries(out, len(paths)), strict=True)
        }
        self._must_be_missing(commit, [path for path, data in contents.items() if data is None])
        return contents

    def _must_be_missing(self, commit: str, paths: Sequence[str]) -> None:
        """`cat-file` says "missing" of a path that is not in the commit, and of one whose content
        is lost.
        """
        if not paths:
            return
        try:
            listing = self.git("ls-tree", "-z", "--full-tree", commit, "--", *paths)
        except GitFailed:
            if not OBJECT.fullmatch(commit) or self.has(commit):
                raise
            how = "--unshallow" if (self.common / "shallow").exists() else "--all"
            message = (
                f"Commit {commit[:9]} is not in this clone, {self.top}: `git fetch {how}` brings it"
            )
            raise CouldNotLook(f"{message} if a remote still has it.") from None
        for mode, oid, path in ls_tree_rows(listing.text):
            if mode.startswith("100") and path in paths:
                raise CouldNotLook(
                    f"{path} in commit {commit[:9]} is damaged: object {oid[:9]} cannot be read, "
                    "`git fsck` shows more."
                )

    def blobs(self, oids: Sequence[str], most: int | None = None) -> dict[str, bytes]:
        """The content of objects, in one call at most; one that cannot be read, or is larger than
        `most`, is `CouldNotLook`.
        """
        try:
            objects = self._objects
            return {oid: objects.content(oid, b"blob", most) for oid in oids}
        except NotLoose:
            if most is not None:
                self._must_be_small(oids, most)
            return self._blobs(oids)

    def _blobs(self, oids: Sequence[str]) -> dict[str, bytes]:
        out = self.git(
            "cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode()
        ).out
        blobs = {}
        for oid, entry in zip(oids, batch_entries(out, len(oids)), strict=True):
            if entry is None:
                raise CouldNotLook(
                    f"Object {oid[:9]} is damaged or missing: `git fsck` shows more."
                )
            blobs[oid] = entry.content
        return blobs

    def entries(self, commit: str, folder: str = "") -> list[tuple[str, str, str]]:
        """`(mode, object, path)` of every file in a commit, or under one of its folders, relative
        to that.
        """
        with contextlib.suppress(NotLoose):
            return self._objects.files(self._commit(commit), folder)
        inside = f"{folder}/" if folder else ""
        within = ("--", inside) if folder else ()
        answer = self.git("ls-tree", "-r", "-z", "--full-tree", commit, *within)
        return [
            (mode, oid, path.removeprefix(inside)) for mode, oid, path in ls_tree_rows(answer.text)
        ]

    def tree_lines(self, commit: str) -> list[bytes]:
        """`mode object path` of every file in a commit."""
        try:
            return self._objects.tree_lines(self._commit(commit))
        except NotLoose:
            return [
                " ".join(row).encode("utf-8", "surrogateescape") for row in self.entries(commit)
            ]

    def names(self, commit: str, folder: str) -> list[str]:
        """The paths of the files that lie in one folder of a commit, not of those below it."""
        try:
            entries = self._objects.names(self._commit(commit), folder)
            rows = [(mode, oid, f"{folder}/{name}") for mode, oid, name in entries]
        except NotLoose:
            listing = self.git("ls-tree", "-z", "--full-tree", commit, "--", f"{folder}/")
            rows = ls_tree_rows(listing.text)
        return [path for mode, _, path in rows if mode.startswith("100")]

    def remotes(self) -> dict[str, str]:
        """Remote names and the URLs that git really uses, credentials removed; where pushes go
        elsewhere, that too.
        """
        urls = remotes_set(self.listed_settings)
        if urls is None:
            urls = remote_urls(self.until_settings_change("remote", "--verbose"))
        return {name: scrub(url) for name, url in urls.items()}

    def remote_tips(
        self, remote: str, *patterns: str, timeout: float | None = None
    ) -> dict[str, str]:
        """Ref name -> object on the remote, as it answers now, within `REMOTE` by default."""
        with attach_root(f"remote {remote}"):
            answer = self.git("ls-remote", "--quiet", remote, *patterns, timeout=timeout or REMOTE)
        rows = (line.partition("\t") for line in answer.text.splitlines())
        return {name: oid for oid, _, name in rows if name}

    def has(self, commit: str) -> bool:
        return self.git("cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128)).code == 0

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.git("merge-base", "--is-ancestor", old, new, ok=(0, 1)).code == 0
