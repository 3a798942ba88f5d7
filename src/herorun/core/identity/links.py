"""Links to the tracker's pages of a run, and to what of its record lies next to its issue on a
GitHub.
"""

from collections.abc import Iterable

from herorun.core.lazy_regex import lazy_regex

_REMOTE = lazy_regex(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?|[^/@:]+@)(?P<host>[\w.-]+)(?::\d+)?[:/]/?(?P<repo>[^/]+/[^/]+?)(?:\.git)?/?"
)
_PAGE = lazy_regex(r"(?P<base>https?://(?P<host>[\w.-]+)(?::\d+)?)/[^/]+/[^/]+/issues/\d+")
_SERVER = lazy_regex(r"https?://[\w.-]+(?::\d+)?")
_RUN = lazy_regex(r"([\w.-]+)/([\w.-]+)/([\w.-]+)")


def shown_links(server: str, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The runs that a log names, each with its page on the server that the log links to; a name of
    another form is left out.

    >>> shown_links("https://wandb.ai", ["lab/pre/t1", "lab/pre/<b>"])
    (('lab/pre/t1', 'https://wandb.ai/lab/pre/runs/t1'),)
    """
    if not _SERVER.fullmatch(server):
        return ()
    return run_pages(server, names)


def run_pages(base: str, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Runs that are named as `entity/project/id`, each with its page below an address of W&B."""
    parts = (match.groups() for run in names if (match := _RUN.fullmatch(run)))
    return tuple(
        (f"{entity}/{project}/{id}", f"{base}/{entity}/{project}/runs/{id}")
        for entity, project, id in parts
    )


def web_page(remote: str, issue: str) -> str | None:
    """The page of a remote's repository, where it is on the GitHub of the issue; None where it is
    not.

    >>> web_page("git@github.com:lab/runs.git", "https://github.com/lab/plans/issues/7")
    'https://github.com/lab/runs'
    >>> comment = "https://github.com/lab/runs/issues/7#issuecomment-1"
    >>> web_page("https://dri:token@github.com/lab/runs", comment)
    'https://github.com/lab/runs'
    >>> web_page("/mirror/runs.git", "https://github.com/lab/runs/issues/7")
    >>> web_page("git@gitlab.com:lab/runs.git", "https://github.com/lab/runs/issues/7")
    """
    repository, page = _REMOTE.fullmatch(remote), _PAGE.match(issue)
    if repository is None or page is None or repository["host"].lower() != page["host"].lower():
        return None
    return f"{page['base']}/{repository['repo']}"


def commit_link(sha: str, remote: str, issue: str) -> str:
    """A commit as Markdown: a link to its page where there is one, otherwise the SHA alone.

    >>> issue = "https://github.com/lab/runs/issues/7"
    >>> commit_link("c0ffee" * 6, "git@github.com:lab/runs.git", issue)
    '[`c0ffeec0f`](https://github.com/lab/runs/commit/c0ffeec0ffeec0ffeec0ffeec0ffeec0ffee)'
    >>> commit_link("c0ffee", "/mirror/runs.git", "/run/issue.md")
    '`c0ffee`'
    """
    page = web_page(remote, issue)
    return f"[`{sha[:9]}`]({page}/commit/{sha})" if page else f"`{sha}`"


def file_link(path: str, branch: str, remote: str, issue: str) -> str:
    """A file of a branch as Markdown, a link where its page is known.

    >>> issue = "https://github.com/lab/runs/issues/7"
    >>> file_link("a.md", "herorun/tiny", "https://github.com/lab/runs", issue)
    '[`a.md` on branch `herorun/tiny`](https://github.com/lab/runs/blob/herorun/tiny/a.md)'
    """
    page, label = web_page(remote, issue), f"`{path}` on branch `{branch}`"
    return f"[{label}]({page}/blob/{branch}/{path})" if page else label
