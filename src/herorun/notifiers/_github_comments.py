"""Our comments on GitHub: their text as it is sent, and as it was read last."""

from typing import Any

from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Post
from herorun.notifiers._markdown import comment_of, format_marker, harmless

MAX_TEXT = 65_000  # characters; GitHub takes 65,536 and counts in its own way


@dataclass(frozen=True)
class PostedComment:
    """One of our comments, as it was read last."""

    id: int
    url: str
    body: str
    comment: Any  # github.IssueComment


def read_comment(comment: Any) -> PostedComment:
    return PostedComment(int(comment.id), str(comment.html_url), str(comment.body), comment)


def delete_comment(comment: Any) -> None:
    from github import GithubException

    try:
        comment.delete()
    except GithubException as error:
        if error.status not in (404, 410):  # another process was first
            raise


def text_of(post: Post) -> str:
    """A comment as it is sent: the robot, the words, and the hidden marker at its end."""
    return f"{cut_text(comment_of(post))}\n\n{format_marker(post.key)}"


def cut_text(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return harmless(f"{text[: MAX_TEXT - 200]}\n\n… cut here: the whole is in the run's record.")
