"""Who we are on GitHub: a token, or an app's installation. Only what this login wrote counts as
ours.
"""

import os
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.notifiers._github_calls import REQUEST, Calls, GithubRefused

TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
ACTIONS = "github-actions[bot]"  # what a workflow's own token writes as; it may not ask who it is


@dataclass(frozen=True)
class Credentials:
    """Names of environment variables, never values."""

    token: str | None = None
    app_id: int | None = None
    app_key: str | None = None
    installation: int | None = None
    login: str | None = None


@dataclass(frozen=True)
class GithubSession:
    github: Any  # github.Github
    login: str
    account: int | None = None  # its number, which a new login does not change; None: unknown

    def is_of(self, user: Any) -> bool:
        """By the number where it is known. GitHub takes a login in upper and lower case, and the
        contract may have either.
        """
        if self.account is not None:
            return bool(user.id == self.account)
        return str(user.login).lower() == self.login.lower()


def log_in(credentials: Credentials, base_url: str, repo: str, calls: Calls) -> GithubSession:
    """One client for reads and writes alike, none of whose calls are repeated by itself."""
    from github import Auth, Github, GithubIntegration

    common: dict[str, Any] = {
        "base_url": base_url,
        "timeout": REQUEST,
        "retry": None,
        "seconds_between_requests": None,
        "seconds_between_writes": None,
    }
    if credentials.app_id is None:
        github = Github(auth=Auth.Token(_token(credentials)), per_page=100, **common)
        login, account = (
            (credentials.login, None) if credentials.login else _fetch_login(github, calls)
        )
        return GithubSession(github, login, account)
    app = Auth.AppAuth(
        credentials.app_id, _read_private_key(credentials.app_key or "HERORUN_GITHUB_APP_KEY")
    )
    integration = GithubIntegration(auth=app, **common)
    owner, _, name = repo.partition("/")
    number = credentials.installation or calls.read(
        lambda: integration.get_repo_installation(owner, name).id
    )
    login = credentials.login or f"{calls.read(lambda: integration.get_app().slug)}[bot]"
    return GithubSession(
        Github(auth=app.get_installation_auth(number), per_page=100, **common), login
    )


def _token(credentials: Credentials) -> str:
    names = (credentials.token,) if credentials.token else TOKENS
    token_value = next(
        (value for name in names if (value := os.environ.get(name, "").strip())), None
    )
    if token_value is None:
        raise CouldNotLook(f"No token for GitHub is set: export {' or '.join(names)}.")
    return token_value


def _read_private_key(name: str) -> str:
    """A private key, as text or as the path of a file that holds it."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise CouldNotLook(f"The private key of the GitHub app is not set: export {name}.")
    if value.startswith("-----BEGIN"):
        return value.replace("\\n", "\n")
    try:
        with open(value, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise CouldNotLook(
            f"The private key that {name} names cannot be read: {error.strerror}."
        ) from None


def _fetch_login(github: Any, calls: Calls) -> tuple[str, int | None]:
    try:
        user = calls.read(lambda: _with_fields(github.get_user()))
        return str(user.login), int(user.id)
    except GithubRefused as error:
        if error.status != 403:
            raise
        if os.environ.get("GITHUB_ACTIONS") == "true":
            return ACTIONS, None
        raise CouldNotLook(
            "GitHub does not tell the login of this token (403), and herorun needs it to "
            "recognise its own comments: set [issue] login."
        ) from None


def _with_fields(user: Any) -> Any:
    """PyGithub asks GitHub for the user only when a field is read."""
    user.login  # noqa: B018  # asks GitHub
    return user
