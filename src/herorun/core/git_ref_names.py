"""Names that a contract gives to git: they must not be read as options, as programs, or as another
place.
"""

from herorun.core.lazy_regex import lazy_regex

_NO_BRANCH = lazy_regex(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(^|/)[.-]|(\.lock|\.|/)(/|$)|^/|^@$|^HEAD$|^refs/"
)
_NO_REMOTE = lazy_regex(r"^-|[\x00-\x1f\x7f]|^[A-Za-z0-9]+::")


def branch_name(name: str) -> str:
    """A branch as `git check-ref-format` allows it, and nothing that is read as an option;
    ValueError for another.
    """
    if not name or _NO_BRANCH.search(name):
        raise ValueError(
            "is not a branch name: letters, digits, '-', '_', '.' and '/' between them, such as "
            "herorun/grug"
        )
    return name


def remote_name(name: str) -> str:
    """A remote's name, URL or path; ValueError for an option, and for `ext::` and its like, which
    start a program.
    """
    if not name or _NO_REMOTE.search(name):
        raise ValueError("is not a remote: give a name that `git remote` lists, such as origin")
    return name
