"""What lies around a repository: rewritten and secret URLs, tags in the way, signers, hooks,
prompts.
"""

import http.server
import threading
from collections.abc import Iterator

import pytest

from herorun.core.errors import CouldNotLook
from herorun.system.git import GitFailed, Repository, find_repository
from herorun.system.git.parse import remote_urls, remotes_set
from herorun.system.git.plumbing import push
from herorun.system.git.tags import annotated_tag, tag_text
from stories import Story, git
from wording import mentions


@pytest.fixture
def repository(story: Story) -> Repository:
    return find_repository(story.work)


def head(repository: Repository) -> str:
    return str(repository.resolve("HEAD"))


# --- remotes --------------------------------------------------------------------------------------


def test_the_remote_that_is_asked_is_the_one_that_git_really_uses(
    story: Story, repository: Repository
) -> None:
    """`url.insteadOf` sends `origin` elsewhere than the configuration says."""
    repository.git("config", "remote.origin.url", "alias:origin.git")
    repository.git("config", f"url.{story.home}/.insteadOf", "alias:")
    assert repository.remotes() == {"origin": str(story.origin)}
    assert repository.remote_tips("origin")["refs/heads/main"] == head(repository)


def test_a_push_goes_to_the_push_url_and_the_remote_that_is_read_does_not_have_it(
    story: Story, repository: Repository
) -> None:
    git(story.home, "init", "-q", "--bare", "other.git")
    repository.git("config", "remote.origin.pushurl", str(story.home / "other.git"))
    push(repository, "origin", head(repository), "refs/heads/pushed", None)
    assert "refs/heads/pushed" not in repository.remote_tips("origin")
    assert "refs/heads/pushed" in repository.remote_tips(str(story.home / "other.git"))
    ((name, url),) = repository.remotes().items()
    assert name == "origin" and mentions(url, f"{story.origin} ", f"{story.home / 'other.git'}")


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        ([], True),
        ([("remote.b.url", "/b"), ("remote.A.c.url", "git@host:a/c.git")], True),
        ([("remote.b.fetch", "+refs/*:refs/*"), ("branch.main.pushremote", "b")], True),
        ([("remote.origin.url", "a path/of two words ")], True),
        ([("remote.pushDefault", "origin")], True),
        ([("remote.b.url", "/b"), ("remote.b.pushurl", "/c")], False),
        ([("remote.b.url", "/b"), ("remote.b.url", "/c")], False),
        ([("url./there/.insteadOf", "/b"), ("remote.b.url", "/b/x")], False),
        ([("url./there/.pushInsteadOf", "/b"), ("remote.b.url", "/b/x")], False),
        ([("remote./b.url", "/b"), ("remote.two words.url", "/c")], False),
        ([("remote.b.url", "two\nlines")], False),
    ],
)
def test_the_settings_tell_the_remotes_as_git_does(
    repository: Repository, settings: list[tuple[str, str]], is_told: bool
) -> None:
    for key, value in settings:
        how = "--add" if key == "remote.b.url" else "--replace-all"
        repository.git("config", how, key, value)
    urls = remotes_set(repository.listed_settings)
    by_git = remote_urls(repository.git("remote", "--verbose").text)
    assert (urls is not None) is is_told
    assert repository.remotes() == by_git and (not is_told or urls == by_git)


def test_a_repository_that_git_cannot_open_is_none_without_remotes(
    repository: Repository, story: Story
) -> None:
    """Git lists the user's own settings then, and calls that success."""
    head = repository.common / "HEAD"
    content = head.read_bytes()
    head.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(CouldNotLook):
            repository.remotes()
    head.write_bytes(content)
    assert repository.remotes() == {"origin": str(story.origin)}
    assert repository.config("remote.origin.url") == str(story.origin)


@pytest.mark.parametrize(
    "url", ["https://ada:hunter22@example.org/x.git", "https://hunter22@example.org/x"]
)
def test_a_secret_in_a_url_is_never_said(repository: Repository, url: str) -> None:
    repository.git("config", "remote.origin.url", url)
    # nobody answers, so that git complains
    repository.git("config", "http.proxy", "http://127.0.0.1:9")
    assert "hunter22" not in repository.remotes()["origin"]
    with pytest.raises(CouldNotLook) as error:
        repository.remote_tips("origin")
    assert "hunter22" not in str(error.value)


def test_the_ssh_that_the_user_has_set_is_the_one_that_runs_and_asks_nobody(
    story: Story, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own", "ssh"):
        (story.home / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {story.home}/ran\nexit 255\n')
        (story.home / name).chmod(0o755)
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    monkeypatch.setenv("GIT_SSH", str(story.home / "own"))
    repository.git("config", "remote.origin.url", "ssh://nowhere.invalid/x.git")
    for way in ("", f"{story.home}/ssh -i key", f"{story.home}/own -i key"):
        if way:
            repository.git("config", "core.sshCommand", way)
        with pytest.raises(GitFailed):
            repository.remote_tips("origin")
    lines = (story.home / "ran").read_text().replace(f"{story.home}/", "").splitlines()
    # which asks for its kind
    ran = [line.partition(" -o SendEnv")[0] for line in lines if " -G " not in line]
    assert [line.partition(" nowhere")[0] for line in ran] == [
        "own",
        "ssh -i key -oBatchMode=yes",
        "own -i key",
    ]


@pytest.fixture
def guarded_url() -> Iterator[str]:
    """The URL of a server on loopback that asks everybody for a password."""

    class Guard(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guard)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/x.git"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_question_for_a_password_is_an_error_and_no_wait(
    story: Story, repository: Repository, guarded_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    repository.git("config", "remote.origin.url", guarded_url)
    asking = story.home / "asking"
    asking.write_text(f"#!/bin/sh\ntouch {story.home}/asked\n")
    asking.chmod(0o755)
    repository.git("config", "core.askPass", str(asking))
    monkeypatch.setenv("SSH_ASKPASS", str(asking))
    repository.git("config", "credential.helper", "")
    with pytest.raises(GitFailed, match="Authentication failed"):
        repository.git("ls-remote", "origin", timeout=10)
    assert not (story.home / "asked").exists()


# --- tags -----------------------------------------------------------------------------------------


def test_an_annotated_tag_is_resolved_to_its_commit(repository: Repository) -> None:
    tag = annotated_tag(repository, "herorun/tiny/seal-1", head(repository), "sealed\n")
    assert tag != head(repository)
    assert repository.resolve("refs/tags/herorun/tiny/seal-1") == head(repository)


def test_headings_in_a_tags_message_stay(repository: Repository) -> None:
    message = "# Sealed\n\n## Evidence\n\n# not a comment\n\n\n"
    annotated_tag(repository, "herorun/tiny/seal-1", head(repository), message)
    assert str(tag_text(repository, "herorun/tiny/seal-1")).partition("\n\n")[2] == message


def test_a_signer_without_a_key_stops_no_tag(repository: Repository) -> None:
    for key, value in (
        ("tag.gpgSign", "true"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "no-such-gpg"),
    ):
        repository.git("config", key, value)
    assert annotated_tag(repository, "herorun/tiny/seal-1", head(repository), "sealed\n")


def test_a_tag_that_is_in_the_way_of_ours_is_named(repository: Repository) -> None:
    repository.git("tag", "herorun/tiny", "HEAD")
    with pytest.raises(GitFailed, match="'refs/tags/herorun/tiny' exists"):
        annotated_tag(repository, "herorun/tiny/seal-1", head(repository), "sealed\n")


def test_a_tag_that_somebody_else_pushed_first_is_not_moved(
    story: Story, repository: Repository
) -> None:
    name = "refs/tags/herorun/tiny/seal-1"
    git(story.origin, "update-ref", name, head(repository))
    tag = annotated_tag(repository, "herorun/tiny/seal-1", head(repository), "sealed\n")
    with pytest.raises(GitFailed, match="stale info"):
        push(repository, "origin", tag, name, None)
    assert repository.remote_tips("origin", name)[name] == head(repository)


# --- the user's own programs ----------------------------------------------------------------------


def test_no_hook_of_the_user_runs_when_we_write(story: Story, repository: Repository) -> None:
    hooks = story.work / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-push", "reference-transaction", "post-index-change", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {story.home}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    tag = annotated_tag(repository, "herorun/tiny/seal-1", head(repository), "sealed\n")
    push(repository, "origin", tag, "refs/tags/herorun/tiny/seal-1", None)
    assert not (story.home / "ran").exists()


def test_a_call_without_an_answer_ends_at_its_deadline(
    story: Story, repository: Repository
) -> None:
    slow = story.home / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 5\n")
    slow.chmod(0o755)
    repository.git("config", "remote.origin.uploadpack", str(slow))
    with pytest.raises(CouldNotLook, match=r"within.*0\.2s"):
        repository.git("ls-remote", "origin", timeout=0.2)
