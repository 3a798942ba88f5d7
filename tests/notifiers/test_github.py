"""The GitHub issue: the contract suite against a stateful emulator, then GitHub's own ways of
saying no.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from herorun.core.doctor_report import Fit
from herorun.core.errors import CouldNotLook
from herorun.core.ports import IssueTracker, Place
from herorun.notifiers import github as adapter
from herorun.notifiers._github_comments import text_of
from herorun.notifiers.github import GitHubIssue, Options
from ports.notifier_suite import IssueBench, IssueTrackerSuite, a_post
from services.github import ANOTHER, APP, ENTERPRISE, INSTALLATION, REPO, GitHub
from wording import mentions

COMMENTS = f"/repos/{REPO}/issues/1/comments"
START = a_post("init:tiny", "Hero run: tiny", "Show the path.")
LABELS = ("experiment", "agent-generated")


def an_issue(github: GitHub, rests: list[float] | None = None, **result: Any) -> GitHubIssue:
    options = Options(**{"repo": REPO, "base_url": github.url, **result})
    return GitHubIssue(options, REPO, (rests if rests is not None else []).append)


class Bench:
    def __init__(self, github: GitHub) -> None:
        self._github = github
        first = an_issue(github)
        self._recorded_issue = first.open(START, LABELS)
        self._session, self._repository = first._session, first._repository

    def connect(self) -> IssueTracker:
        """Again, with nothing known of the page; who we are is asked once."""
        issue = an_issue(self._github, recorded_issue=self._recorded_issue)
        issue._session, issue._repository = self._session, self._repository
        return issue

    def connect_elsewhere(self) -> IssueTracker:
        return GitHubIssue(Options(repo=ANOTHER, base_url=self._github.url), ANOTHER, [].append)

    def read_messages(self) -> str:
        return self._github.read_messages()

    def cut_off(self) -> None:
        self._github.fault(times=-1)


class TestGitHubIssue(IssueTrackerSuite):
    @pytest.fixture
    def bench(self, github: GitHub) -> IssueBench:
        return Bench(github)


@pytest.fixture
def open_issue(github: GitHub) -> GitHubIssue:
    """A page that was opened and read by this very process."""
    issue = an_issue(github)
    issue.open(START, LABELS)
    assert issue.find("nothing") is None
    github.exchanges.clear()
    return issue


# --- the page ------------------------------------------------------------------------------------


def test_a_new_page_has_its_labels_and_they_are_made(github: GitHub) -> None:
    github.ask("POST", f"/repos/{REPO}/labels", {"name": "experiment", "color": "123456"})
    an_issue(github).open(START, LABELS)
    (page,) = github.issues()
    assert page["title"] == START.title
    assert {label["name"] for label in page["labels"]} == set(LABELS)
    assert [each.request_body["name"] for each in github.exchanges_of("POST", "/labels")] == [
        "agent-generated"
    ]


def test_a_label_that_another_machine_makes_meanwhile_is_given(github: GitHub) -> None:
    fields = {
        "message": "Validation Failed",
        "errors": [{"resource": "Label", "code": "already_exists"}],
    }
    github.fault(
        method="POST",
        url="/labels",
        status=422,
        body={**fields, "documentation_url": "x"},
        after=True,
    )
    an_issue(github).open(START, ("experiment",))
    assert [label["name"] for label in github.issues()[0]["labels"]] == ["experiment"]


def test_without_the_right_to_make_labels_the_page_says_so(github: GitHub) -> None:
    github.fault(
        method="POST", url="/labels", status=403, body={"message": "Must have push access"}
    )
    an_issue(github).open(START, ("experiment",))
    assert mentions(github.issues()[0]["body"], "Labels", "experiment")


def test_an_issue_that_is_there_is_taken_with_the_facts_as_a_comment(github: GitHub) -> None:
    github.ask(
        "POST",
        f"/repos/{REPO}/issues",
        {"title": "theirs", "body": "their words"},
        "token-of-other",
    )
    for _ in range(2):
        an_issue(github, number=1).open(START, ("experiment",))
    (page,) = github.issues()
    assert (page["title"], page["body"]) == ("theirs", "their words")
    assert [label["name"] for label in page["labels"]] == ["experiment"]
    (comment,) = github.comments()
    assert START.body in comment["body"]


def test_a_page_is_found_again_by_its_marker(github: GitHub) -> None:
    first = an_issue(github).open(START, ())
    assert an_issue(github).open(START, ()) == first
    assert len(github.issues()) == 1


def test_a_marker_in_an_issue_of_somebody_else_is_no_page_of_ours(github: GitHub) -> None:
    an_issue(github).open(START, ())
    forged_issue = github.issues()[0]["body"].replace("init:tiny", "init:other")
    github.ask(
        "POST", f"/repos/{REPO}/issues", {"title": "forged", "body": forged_issue}, "token-of-other"
    )
    assert an_issue(github).find("init:other") is None


def test_what_the_record_names_in_another_repository_is_not_looked_for_here(github: GitHub) -> None:
    elsewhere = f"https://github.com/{ANOTHER}/issues/1"
    assert an_issue(github, recorded_issue=elsewhere).find("init:tiny") is None
    assert github.exchanges_of("GET", "/issues/1") == []


# --- an answer that is lost ----------------------------------------------------------------------

LOST_ANSWERS = {
    "the connection dropped": {},
    "502 as a page": {"status": 502, "body": "<html>Bad Gateway</html>"},
    "502 as JSON": {"status": 502, "body": {"message": "Server Error"}},
    "200 without JSON": {"status": 200, "body": "<html>maintenance</html>"},
}


@pytest.mark.parametrize("answer", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
def test_a_post_that_was_carried_out_is_not_sent_again(
    github: GitHub, open_issue: GitHubIssue, answer: dict[str, Any]
) -> None:
    github.fault(method="POST", url="/comments", after=True, **answer)
    reference = open_issue.post(a_post())
    (comment,) = github.comments()
    assert reference == comment["html_url"]
    assert len(github.exchanges_of("POST")) == 1


@pytest.mark.parametrize("answer", LOST_ANSWERS.values(), ids=LOST_ANSWERS)
def test_a_post_that_was_not_carried_out_is_sent_again(
    github: GitHub, open_issue: GitHubIssue, answer: dict[str, Any]
) -> None:
    github.fault(method="POST", url="/comments", **answer)
    open_issue.post(a_post())
    assert len(github.comments()) == 1
    assert len(github.exchanges_of("POST")) == 2


@pytest.mark.parametrize("after", [True, False])
def test_a_page_whose_answer_is_lost_is_opened_once(github: GitHub, after: bool) -> None:
    github.fault(method="POST", url="/issues", after=after)
    link = an_issue(github).open(START, ())
    assert [page["html_url"] for page in github.issues()] == [link]


def test_while_nobody_can_look_nothing_is_sent_again(
    github: GitHub, open_issue: GitHubIssue
) -> None:
    github.fault(method="POST", url="/comments", after=True)
    github.fault(method="GET", times=-1, skip=1)
    with pytest.raises(CouldNotLook, match="answer"):
        open_issue.post(a_post())
    assert len(github.exchanges_of("POST")) == 1
    github.heal()
    an_issue(github, number=1).post(a_post())
    assert len(github.comments()) == 1


def test_a_read_is_asked_again(github: GitHub, open_issue: GitHubIssue) -> None:
    open_issue.post(a_post())
    github.fault(method="GET", status=503, body={"message": "unavailable"}, times=2)
    assert an_issue(github, number=1).find(a_post().key) == github.comments()[0]["html_url"]


def test_an_outage_is_waited_for_once(github: GitHub) -> None:
    rests: list[float] = []
    issue = an_issue(github, rests, number=1)
    github.fault(times=-1)
    for key in ("a", "b", "c"):
        with pytest.raises(CouldNotLook):
            issue.post(a_post(key))
    assert sum(rests) <= 60
    assert len(github.exchanges) == 4


# --- limits --------------------------------------------------------------------------------------

SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
PRIMARY = {"message": "API rate limit exceeded for user ID 1."}


@pytest.mark.parametrize("status", [403, 429])
def test_the_wait_that_a_secondary_limit_asks_for_is_kept(github: GitHub, status: int) -> None:
    rests: list[float] = []
    issue = an_issue(github, rests)
    issue.open(START, ())
    github.fault(
        method="POST", url="/comments", status=status, body=SECONDARY, headers={"Retry-After": "7"}
    )
    issue.post(a_post())
    assert 7.0 in rests
    assert len(github.comments()) == 1


def test_a_long_limit_is_not_waited_for(github: GitHub, open_issue: GitHubIssue) -> None:
    reset = int(time.time()) + 1800
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    github.fault(method="POST", url="/comments", status=403, body=PRIMARY, headers=headers)
    at = time.strftime("%H:%M:%S", time.gmtime(reset))
    with pytest.raises(CouldNotLook, match=f"{REPO}.*{at} UTC"):
        open_issue.post(a_post())
    assert len(github.exchanges_of("POST")) == 1


def test_a_secondary_limit_without_a_time_is_a_minute(
    github: GitHub, open_issue: GitHubIssue
) -> None:
    github.fault(method="POST", url="/comments", status=403, body=SECONDARY)
    with pytest.raises(CouldNotLook, match="limit"):
        open_issue.post(a_post())


def test_two_writes_are_a_second_apart(github: GitHub) -> None:
    rests: list[float] = []
    an_issue(github, rests).open(START, LABELS)
    assert len([rest for rest in rests if 0 < rest <= 1]) == 2  # two labels and a page


# --- what GitHub refuses -------------------------------------------------------------------------

SSO = {"X-GitHub-SSO": "required; url=https://github.com/orgs/lab/sso?authorization_request=abc"}
SCOPES = {"X-OAuth-Scopes": "gist", "X-Accepted-OAuth-Scopes": "repo"}
REFUSALS = {
    "sso": (
        403,
        "Resource protected by organization SAML enforcement.",
        SSO,
        "sso.authorization_request=abc",
    ),
    "scope": (403, "Resource not accessible", SCOPES, "needs repo and has gist"),
    "plain": (403, "Must have admin rights", {}, "403 Must have admin rights"),
    "locked": (403, "Unable to create comment because issue is locked.", {}, "unlock it"),
    "404": (404, "Not Found", {}, "may not see it"),
    "410": (410, "Issues are disabled for this repo", {}, "switched off"),
    "422": (422, "Validation Failed", {}, "422 Validation Failed"),
    "401": (401, "Bad credentials", {}, "renew it"),
}


@pytest.mark.parametrize(("status", "text", "headers", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_says_what_to_do_and_is_not_tried_again(
    github: GitHub,
    open_issue: GitHubIssue,
    status: int,
    text: str,
    headers: dict[str, str],
    words: str,
) -> None:
    body = {"message": text, "documentation_url": "https://docs.github.com"}
    github.fault(method="POST", url="/comments", status=status, body=body, headers=headers)
    with pytest.raises(CouldNotLook, match=words):
        open_issue.post(a_post())
    assert len(github.exchanges_of("POST")) == 1


def test_a_refusal_echoes_no_secret(github: GitHub, open_issue: GitHubIssue) -> None:
    token = "ghp_" + "s3cr3t" * 6
    github.fault(
        method="POST", url="/comments", status=403, body={"message": f"token {token} is bad"}
    )
    with pytest.raises(CouldNotLook) as error:
        open_issue.post(a_post())
    assert token not in str(error.value)


def test_a_token_that_github_does_not_know(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "expired")
    with pytest.raises(CouldNotLook, match=r"401 Bad credentials.*renew"):
        an_issue(github).open(START, ())


def test_a_number_that_is_not_there(github: GitHub) -> None:
    with pytest.raises(CouldNotLook, match=rf"{REPO}.*not exist.*404"):
        an_issue(github, number=7).open(START, ())


def test_a_body_is_cut_to_what_github_takes(github: GitHub, open_issue: GitHubIssue) -> None:
    open_issue.post(a_post(body="🤖" * 70_000))
    (comment,) = github.comments()
    assert len(comment["body"]) <= 65_536
    assert "cut here" in comment["body"]
    assert an_issue(github, number=1).find(a_post().key)


def test_an_address_that_is_not_the_api_is_reported(github: GitHub) -> None:
    with pytest.raises(CouldNotLook, match="base_url"):
        an_issue(github, base_url=github.url.replace("localhost", "127.0.0.1")).open(START, ())


# --- whose comments count ------------------------------------------------------------------------


def test_a_marker_by_another_login_does_not_count(github: GitHub, open_issue: GitHubIssue) -> None:
    forged_body = text_of(a_post(body="forged"))
    github.ask("POST", COMMENTS, {"body": forged_body}, "token-of-other")
    assert open_issue.find(a_post().key) is None
    open_issue.post(a_post(body="genuine"))
    assert [comment["user"]["login"] for comment in github.comments()] == ["other", "dri"]
    open_issue.edit(a_post(body="edited"))
    assert ["forged" in comment["body"] for comment in github.comments()] == [True, False]


def test_only_our_own_comments_are_read_back_and_nothing_is_written(
    github: GitHub, open_issue: GitHubIssue
) -> None:
    github.ask("POST", COMMENTS, {"body": text_of(a_post(body="forged"))}, "token-of-other")
    for words in ("older", "newer"):
        github.ask("POST", COMMENTS, {"body": text_of(a_post(body=words))})
    comments = an_issue(github, number=1).comments(START.key, 10)
    assert [body.partition("\n\n")[2].partition("\n")[0] for body in comments.bodies] == [
        "older",
        "newer",
    ]
    assert len(github.comments()) == 3 and not comments.more
    assert open_issue.comments(START.key, 2).more


def test_of_two_under_one_key_the_older_stays(github: GitHub, open_issue: GitHubIssue) -> None:
    for words in ("older", "newer"):
        github.ask("POST", COMMENTS, {"body": text_of(a_post(body=words))})
    assert open_issue.find(a_post().key) == github.comments()[0]["html_url"]
    (comment,) = github.comments()
    assert "older" in comment["body"]


def test_a_comment_that_somebody_deleted_is_said_again(
    github: GitHub, open_issue: GitHubIssue
) -> None:
    open_issue.post(a_post(body="first"))
    github.ask("DELETE", f"/repos/{REPO}/issues/comments/{github.comments()[0]['id']}")
    open_issue.edit(a_post(body="second"))
    (comment,) = github.comments()
    assert "second" in comment["body"]


def test_more_than_a_page_of_comments_is_read(github: GitHub, open_issue: GitHubIssue) -> None:
    open_issue.post(a_post())
    for number in range(101):
        github.ask("POST", COMMENTS, {"body": f"words {number}"}, "token-of-other")
    github.ask("POST", COMMENTS, {"body": text_of(a_post("last"))})
    fresh = an_issue(github, number=1)
    assert fresh.find(a_post().key) != fresh.find("last") is not None


def test_only_what_is_new_is_read_again(github: GitHub, open_issue: GitHubIssue) -> None:
    open_issue.post(a_post())
    open_issue.find("something")
    assert "since=" in github.exchanges_of("GET", COMMENTS)[-1].path


# --- who we are ----------------------------------------------------------------------------------


def test_github_enterprise_answers_under_its_own_address(github: GitHub) -> None:
    there = an_issue(github, base_url=github.url + ENTERPRISE)
    there.open(START, ("experiment",))
    reference = there.post(a_post())
    assert (
        an_issue(github, base_url=github.url + ENTERPRISE, number=1).find(a_post().key) == reference
    )


def test_an_app_writes_as_its_bot(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setenv("APP_KEY", github.key)
    link = an_issue(github, app_id=APP, app_key="APP_KEY").open(START, ())
    again = an_issue(github, app_id=APP, app_key="APP_KEY", installation=INSTALLATION)
    assert again.open(START, ()) == link
    again.post(a_post())
    assert [github.issues()[0]["user"]["login"], github.comments()[0]["user"]["login"]] == [
        "herorun[bot]"
    ] * 2


def test_an_account_that_was_renamed_since_is_still_ours(
    github: GitHub, open_issue: GitHubIssue
) -> None:
    """The babysitter has asked who it is long before."""
    open_issue.post(a_post())
    session = replace(open_issue._session, login="before")
    later = an_issue(github, number=1)
    later.__dict__["_session"] = session
    assert session.account is not None and later.find(a_post().key) is not None
    later.post(a_post())
    assert len(github.comments()) == 1


def test_a_workflow_s_own_token_may_not_ask_who_it_is(
    github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_not = {"method": "GET", "url": "/user", "status": 403, "times": -1}
    github.fault(**may_not, body={"message": "Resource not accessible by integration"})
    with pytest.raises(CouldNotLook, match=r"\[issue\] login"):
        an_issue(github).open(START, ())
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    issue = an_issue(github)
    issue.open(START, ())
    assert issue._session.login == "github-actions[bot]"
    same_issue = an_issue(github, login="DRI", number=1)  # in whatever case a person writes it
    assert same_issue.find("init:tiny") == github.issues()[0]["html_url"]
    assert (
        same_issue.post(a_post())
        == same_issue.edit(a_post(body="edited"))
        == github.comments()[0]["html_url"]
    )
    assert len(github.comments()) == 1


def test_without_a_token_the_variables_are_named(
    github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    with pytest.raises(CouldNotLook, match=r"export.*GITHUB_TOKEN.*GH_TOKEN"):
        an_issue(github).open(START, ())
    monkeypatch.setenv("MINE", "token-of-other")
    an_issue(github, token="MINE").open(START, ())
    assert github.issues()[0]["user"]["login"] == "other"


def test_a_contract_without_a_repository_is_wrong_use() -> None:
    with pytest.raises(Exception, match=r'needs repo = "owner/name"'):
        adapter.connect(Options(), Place("tiny", "/state", "/data", "/code"))


def test_the_description_of_the_api_is_held_against_every_request(github: GitHub) -> None:
    """A guard of the guard: what GitHub does not know is said."""
    from services import github_api

    an_issue(github).open(START, ())
    if not github_api.FILE.exists():
        pytest.skip("the description of GitHub's API is not installed")
    wrong: list[tuple[str, Callable[[Any], Any]]] = [
        ("no such operation", lambda each: _but(each, path="/repos/a/b/hero")),
        ("takes no parameter", lambda each: _but(each, path=f"{each.path}?colour=1")),
        ("never answers 299", lambda each: _but(each, status=299)),
        ("is a required property", lambda each: _but(each, request_body={})),
        ("is a required property", lambda each: _but(each, answer={"number": 1})),
    ]
    (issue,) = github.exchanges_of("POST", "/issues")
    assert github_api.faults([issue]) == []
    for words, change in wrong:
        assert any(words in fault for fault in github_api.faults([change(issue)])), words


def _but(each: Any, **changes: Any) -> Any:
    return replace(each, **changes)


# --- what `herorun doctor` is told ----------------------------------------------------------------


def test_who_we_are_there_is_told_without_writing(github: GitHub) -> None:
    (part,) = an_issue(github).examine()
    assert (part.status, part.name) == (Fit.OK, f"github {REPO}") and "writes as" in part.message
    assert github.exchanges_of("POST") == []


def test_a_token_that_is_refused_is_broken_and_says_what_one_needs(github: GitHub) -> None:
    github.fault(status=401, body={"message": "Bad credentials"}, times=-1)
    (part,) = an_issue(github).examine()
    assert part.status is Fit.FAILED and "docs/github.md" in part.fix
