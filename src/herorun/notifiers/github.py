"""The run's issue on GitHub, by PyGithub: `[issue] kind = "github"`, `repo = "owner/name"`.

Every text carries a hidden marker with its key. A marker under our own login proves that the text
was posted; nothing else records it. Comments by other people are not read, and are never commands.
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from herorun.core.contract.notify import Issue
from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.markdown import one_line
from herorun.core.ports import Comments, IssueTracker, Place, Post
from herorun.notifiers._github_calls import Calls, GithubRefused, malformed_as_error
from herorun.notifiers._github_comments import (
    PostedComment,
    cut_text,
    delete_comment,
    read_comment,
    text_of,
)
from herorun.notifiers._github_login import Credentials, GithubSession, log_in
from herorun.notifiers._github_options import Options as Options
from herorun.notifiers._markdown import format_marker, harmless, keys_in, line_of, plain_key

MAX_ISSUES_SEARCHED = 300  # of our newest issues, for the one that carries the run's marker
OVERLAP = timedelta(minutes=2)  # of two readings, because clocks differ
_NUMBER = lazy_regex(r"/([^/]+/[^/]+)/issues/([0-9]+)")
INIT_KEYS = ("repo",)  # of [tool.herorun.init], which stands for this kind


def connect(options: Options, place: Place) -> IssueTracker:
    if options.repo is None:
        raise WrongUse('"github" needs repo = "owner/name".')
    return GitHubIssue(options, options.repo)


def address(table: Issue) -> str:
    """The address of the run's issue, without a query; the number is 0 if the contract names
    none.
    """
    if not table.repo:
        return ""
    api = urlsplit(str(table.options.get("base_url") or "https://api.github.com"))
    host = api.netloc.removeprefix("api.")
    return f"{api.scheme}://{host}/{table.repo}/issues/{table.number or 0}"


class GitHubIssue:
    """See `core.ports.IssueTracker`. A reference is a link."""

    def __init__(
        self, options: Options, repo: str, sleep: Callable[[float], None] | None = None
    ) -> None:
        self._options, self._repo = options, repo
        self._calls = Calls(repo, sleep) if sleep else Calls(repo)
        self._number = options.number or _number_in(options.recorded_issue or "", repo)
        self._comments: dict[str, PostedComment] = {}
        self._read_at: datetime | None = None

    @property
    def where(self) -> str:
        return self._repo

    # --- the port ------------------------------------------------------------------------------

    @malformed_as_error
    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        page = self._page(post.key)
        if page is None:
            page = self._create(post, self._labels(labels))
        elif self._options.number is not None and not self._is_ours(page, post.key):
            self._adopt(page, post, labels)
        self._number = int(page.number)
        return str(page.html_url)

    @malformed_as_error
    def post(self, post: Post) -> str:
        if (posted_url := self.find(post.key)) is not None:
            return posted_url
        page, body = self._open_page(), text_of(post)
        new_comment = self._calls.write(
            lambda: read_comment(page.create_comment(body)), lambda: self._find(post.key)
        )
        # a twin of another machine is seen; our own may show later
        comment = self._find(post.key) or new_comment
        return comment.url

    @malformed_as_error
    def edit(self, post: Post) -> str:
        earlier, body = self._find(post.key), text_of(post)
        if earlier is None:
            return self.post(post)
        if body != earlier.body:
            try:
                self._calls.repeat(partial(earlier.comment.edit, body))
            except GithubRefused as error:
                if error.status not in (404, 410):
                    raise
                del self._comments[plain_key(post.key)]  # it was deleted
                return self.post(post)
            self._comments[plain_key(post.key)] = replace(earlier, body=body)
        return earlier.url

    @malformed_as_error
    def find(self, key: str) -> str | None:
        page = self._page(key)
        if page is not None and self._is_ours(page, key):
            return str(page.html_url)
        comment = self._find(key)
        return comment.url if comment else None

    @malformed_as_error
    def comments(self, key: str, most: int) -> Comments:
        page = self._page(key)
        if page is None:
            raise CouldNotLook(f"The run has no issue on {self._repo}: `herorun init` opens it.")
        newest = self._calls.read(lambda: list(islice(page.get_comments(), most + 1)))
        ours = [c for c in newest[:most] if self._are_we(c.user)]
        return Comments(tuple(str(c.body or "") for c in ours), len(newest) > most)

    @malformed_as_error
    def examine(self) -> tuple[DoctorPart, ...]:
        """Test the login, the token's rights, and whether the repository has issues. Nothing is
        written.
        """
        name = f"github {self._repo}"
        try:
            session, repository = self._session, self._repository
        except GithubRefused as error:
            fix = "See docs/github.md for what a token needs."
            return (DoctorPart("issue", name, Fit.FAILED, str(error), fix),)
        scopes = getattr(session.github, "oauth_scopes", None)
        may = (
            f"scopes {', '.join(scopes)}"
            if scopes
            else "a token that names no scopes (fine-grained, or an app's)"
        )
        parts = [DoctorPart("issue", name, Fit.OK, f"writes as {session.login}; {may}")]
        if not repository.has_issues:
            fix = "Turn issues on in the repository's settings."
            parts.append(
                DoctorPart(
                    "issue",
                    f"{name}, issues",
                    Fit.FAILED,
                    "the repository has issues turned off",
                    fix,
                )
            )
        return tuple(parts)

    # --- the page ------------------------------------------------------------------------------

    @cached_property
    def _session(self) -> GithubSession:
        options = self._options
        names = Credentials(
            options.token, options.app_id, options.app_key, options.installation, options.login
        )
        return log_in(names, options.base_url, self._repo, self._calls)

    @cached_property
    def _repository(self) -> Any:
        return self._calls.read(lambda: self._session.github.get_repo(self._repo))

    def _page(self, key: str) -> Any | None:
        """The run's issue; None if there is none yet."""
        if self._number is not None:
            return self._by_number(self._number)
        for page in self._calls.read(self._own_pages):
            if self._is_ours(page, key):
                self._number = int(page.number)
                return page
        return None

    def _by_number(self, number: int) -> Any:
        if number not in self._pages:
            self._pages[number] = self._calls.read(lambda: self._repository.get_issue(number))
        return self._pages[number]

    @cached_property
    def _pages(self) -> dict[int, Any]:
        return {}

    def _open_page(self) -> Any:
        if self._number is None:
            raise CouldNotLook(
                f"The run has no issue on {self._repo} yet: `herorun init` opens it."
            )
        return self._by_number(self._number)

    def _own_pages(self) -> list[Any]:
        """Our newest issues; pull requests are among what GitHub calls issues.

        An app's are looked for among everybody's: GitHub's filter does not find them everywhere
        (renovate #44730).
        """
        login = self._session.login
        whose = {} if login.endswith("[bot]") else {"creator": login}
        pages = self._repository.get_issues(state="all", sort="created", direction="desc", **whose)
        return [page for page in islice(pages, MAX_ISSUES_SEARCHED) if page.pull_request is None]

    def _is_ours(self, page: Any, key: str) -> bool:
        return self._are_we(page.user) and plain_key(key) in keys_in(page.body or "")

    def _are_we(self, user: Any) -> bool:
        return user is not None and self._session.is_of(user)

    def _create(self, post: Post, labels: tuple[list[str], list[str]]) -> Any:
        labels_there, failed_labels = labels
        note = (
            f"\n\nLabels that could not be set: {', '.join(map(one_line, failed_labels))}."
            if failed_labels
            else ""
        )
        body = f"{cut_text(harmless(post.body).strip() + note)}\n\n{format_marker(post.key)}"
        return self._calls.write(
            lambda: self._repository.create_issue(
                title=line_of(post.title), body=body, labels=labels_there
            ),
            lambda: self._page(post.key),
        )

    def _adopt(self, page: Any, post: Post, labels: tuple[str, ...]) -> None:
        """Use another person's issue: its text is not changed, so the facts become a comment."""
        labels_there, _ = self._labels(tuple(set(labels) - {label.name for label in page.labels}))
        if labels_there:
            with contextlib.suppress(GithubRefused):  # a page without our labels is still a page
                self._calls.repeat(lambda: page.add_to_labels(*labels_there))
        self.post(post)

    def _labels(self, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Those that are there or could be made, and the others: without them a page is still a
        page.
        """
        labels_there, failed_labels = [], []
        for name in sorted(names):
            try:
                self._label(name)
                labels_there.append(name)
            except GithubRefused:
                failed_labels.append(name)
        return labels_there, failed_labels

    def _label(self, name: str) -> None:
        get_label = partial(self._repository.get_label, name)
        try:
            self._calls.read(get_label)
        except GithubRefused as missing:
            if missing.status != 404:
                raise
            try:
                self._calls.repeat(partial(self._repository.create_label, name, "ededed", ""))
            except GithubRefused as error:
                if error.status != 422:
                    raise
                self._calls.read(get_label)  # another machine was first

    # --- what was posted -------------------------------------------------------------------------

    def _find(self, key: str) -> PostedComment | None:
        if self._number is None and self._page(key) is None:
            return None
        self._read()
        return self._comments.get(plain_key(key))

    def _read(self) -> None:
        """Read our comments since the last read. Of two with one key the older stays, and the newer
        is deleted.
        """
        page = self._open_page()
        since = {"since": self._read_at - OVERLAP} if self._read_at else {}
        comments = self._calls.read(lambda: list(page.get_comments(**since)))
        for comment in sorted(comments, key=lambda c: int(c.id)):
            self._read_at = max(filter(None, (self._read_at, comment.updated_at)), default=None)
            if not self._are_we(comment.user):
                continue
            for key in keys_in(comment.body or "")[-1:]:
                comment_read, earlier = read_comment(comment), self._comments.get(key)
                if earlier and earlier.id != comment_read.id:
                    comment_read, newer = sorted((earlier, comment_read), key=lambda each: each.id)
                    self._calls.repeat(partial(delete_comment, newer.comment))
                self._comments[key] = comment_read


def _number_in(reference: str, repo: str) -> int | None:
    """The number of an issue of that repository; None for a reference to another one."""
    match = _NUMBER.search(reference)
    return int(match[2]) if match and match[1].lower() == repo.lower() else None
