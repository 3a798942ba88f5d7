"""Which modified files differ only in their mode or their line endings."""

from herorun.core.lazy_dataclass import dataclass
from herorun.sources._status import FILES, QUIET, STRICT, PathChange, TreeStatus

_MAX_PATHS = 500  # paths named on one command line; beyond them git compares everything
_NUMSTAT = (
    "diff",
    "--numstat",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
)


@dataclass(frozen=True)
class ModeOnlyChanges:
    mode_only: list[str]
    eol_only: list[str]


def likeness(status: TreeStatus) -> ModeOnlyChanges:
    """Compares the disk with HEAD. Files that git cannot compare here, as in a partial clone, count
    as different.
    """
    edited_files = [change for change in status.changes if FILES.issuperset(change.modes)]
    if not edited_files:
        return ModeOnlyChanges([], [])
    exact, loose = (
        _numstat(status, edited_files),
        _numstat(status, edited_files, "--ignore-cr-at-eol"),
    )
    if exact is None or loose is None:
        return ModeOnlyChanges([], [])
    modes = [
        c.path for c in edited_files if c.modes[0] != c.modes[2] and exact.get(c.path) == "0\t0"
    ]
    same = [c for c in edited_files if c.modes[0] == c.modes[2] and c.path not in loose]
    return ModeOnlyChanges(
        modes, [c.path for c in same if c.path in exact or _is_line_ending_change(status, c)]
    )


def _numstat(
    status: TreeStatus, edited_files: list[PathChange], *options: str
) -> dict[str, str] | None:
    paths = [change.path for change in edited_files]
    pathspec = ("--", *paths) if len(paths) <= _MAX_PATHS else ("--",)
    answer = status.repository.git(
        *_NUMSTAT, *options, "HEAD", *pathspec, env=QUIET, settings=STRICT, ok=(0, 128)
    )
    if answer.code:
        return None
    rows = (record.rpartition("\t") for record in answer.text.split("\0") if record)
    return {path: counts for counts, _, path in rows}


def _is_line_ending_change(status: TreeStatus, change: PathChange) -> bool:
    """Whether the file differs by `core.autocrlf`: git converts it and finds no difference, but the
    disk has other bytes.
    """
    if change.staged:
        return False  # the disk equals HEAD again, but the index does not
    return b"\r\n" in (status.repository.top / change.path).read_bytes()
