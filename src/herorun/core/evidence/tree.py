"""The source tree, which of its commits are published, and who launches."""

from collections.abc import Mapping

from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Submodule:
    """A submodule as the superproject's HEAD names it, and what differs inside."""

    path: str
    commit: str
    checked_out: str | None = None  # None: it is not checked out
    modified: bool = False  # tracked files
    untracked: bool = False
    published: bool | None = True  # whether its own remote has the commit; None: the query failed
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class WorkTree:
    """The commit that HEAD names, and what differs from it. Paths are relative to the top, as
    people read them.
    """

    commit: str
    branch: str | None = None  # None: detached
    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()  # edits behind assume-unchanged or skip-worktree
    importable: tuple[str, ...] = ()  # in no commit, and Python would import them from a code root
    mode_only: tuple[str, ...] = ()  # of the modified: nothing but the mode differs
    eol_only: tuple[str, ...] = ()  # of the modified: nothing but the line endings differ
    submodules: tuple[Submodule, ...] = ()
    pointers: tuple[str, ...] = ()  # Git LFS pointers in place of their content
    # objects under refs/replace, which change what a commit seems to hold
    replaced: tuple[str, ...] = ()
    shallow: bool = False  # ancestry cannot be asked
    linked: bool = False  # a work tree besides the main one
    settings: tuple[str, ...] = ()  # git settings that hide changes, as `key=value`

    @property
    def dirty(self) -> tuple[str, ...]:
        groups = (
            ("staged", self.staged),
            ("modified", self.unstaged),
            ("untracked", self.untracked),
            ("hidden", self.hidden),
            ("importable, in no commit", self.importable),
        )
        return tuple(f"{path} ({word})" for word, paths in groups for path in paths)


@dataclass(frozen=True, kw_only=True)
class Published:
    """Which refs of the remote contain the commit. An empty `refs` means that we looked and none
    does.
    """

    remote: str
    commit: str
    refs: tuple[str, ...]  # of those that the contract names
    elsewhere: tuple[str, ...] = ()  # other refs of the remote that are known to contain it
    ref: str | None = None  # the one of `refs` whose tip the commit is measured against
    tip: str | None = None
    behind: int = 0  # commits from HEAD to that tip
    behind_files: tuple[str, ...] = ()  # what they change
    why_not: str = ""  # why it could not be measured


@dataclass(frozen=True)
class ImportClosure:
    """The repository's files that the entry point names or imports, one importing the other."""

    files: frozenset[str] = frozenset()
    entry: str | None = None  # None: it is no Python of this repository
    unresolved: tuple[str, ...] = ()  # files that could not be parsed, and why


@dataclass(frozen=True)
class CodeChange:
    """What changed between the newest instance's commit and HEAD."""

    instance: str
    before: str
    after: str
    files: tuple[str, ...] = ()
    tracker_id: str = ""  # that the instance reported under


@dataclass(frozen=True)
class Snapshot:
    """An approved dirty tree as a commit: made from content alone, so the same edits give the same
    commit.
    """

    commit: str
    tree: str
    diff: str  # digest of the canonical binary diff against HEAD
    files: tuple[str, ...] = ()
    bytes: int = 0
    secrets: tuple[str, ...] = ()  # `path:line`, where something looks like a secret


@dataclass(frozen=True)
class Remotes:
    """The git remotes by name, credentials removed."""

    urls: Mapping[str, str]


@dataclass(frozen=True)
class RemoteTips:
    """Ref name -> object on the code's remote, an annotated tag as the commit that it names."""

    remote: str
    by_ref: Mapping[str, str]


@dataclass(frozen=True)
class Launcher:
    """Who runs herorun, as user@machine, and the name that git or the system knows them by."""

    owner: str
    user: str | None
    temporary: str = ""  # where this machine keeps temporary files, if its environment says so
    clone: str = ""  # main work tree; empty where there is no repository
