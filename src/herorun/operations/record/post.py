"""Posts something once: recorded as intended, posted unless it is there already, recorded as
done.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Done, Failed, Intended
from herorun.core.identity.links import commit_link
from herorun.core.markdown import mentioning, without_markup
from herorun.core.ports import Post
from herorun.operations.record.lease import DEADLINE, other_holder
from herorun.runs import MonitoredRun
from herorun.system.clock import now
from herorun.system.timeout import within


def post_entry(run: MonitoredRun, key: str, title: str, why: str, lines: Mapping[str, str]) -> None:
    """One post under one key in the issue, with its entry in the logbook. `why` may name the DRI:
    it is ours.
    """
    memory = run.record.memory()
    if key in memory.done:
        return
    if key not in memory.intended:
        run.record.append(post_intent(run, key, title=title, why=why, lines=lines, at=now()))
    deliver(run, run.record.memory().intended[key])


def post_intent(
    run: MonitoredRun,
    key: str,
    *,
    title: str,
    why: str,
    lines: Mapping[str, str],
    at: datetime,
    edits: str = "",
    own_comment: bool = True,
) -> Intended:
    """What is journalled before it is posted, word for word. `edits` and `own_comment` (`anew`) as
    in `Intended`.
    """
    title = without_markup(title)
    body = f"**{title}**\n\n{why}\n\nRun `{run.slug}`, record {record_link(run)}."
    return Intended(
        at=at,
        key=key,
        attempt=run.record.memory().attempt(key),
        what=title,
        body=body,
        lines=lines,
        edits=edits,
        anew=own_comment,
    )


def record_link(run: MonitoredRun) -> str:
    """The record for people: its exact commit, the newest that everybody can find. `verify`
    looks for it.
    """
    anchor, init_event = run.record.anchor, run.record.memory().initialised
    if anchor is None:
        return "not pushed yet" if run.record.tip else "not begun"
    return commit_link(anchor, run.record.address, init_event.issue if init_event else "")


def deliver(run: MonitoredRun, intent: Intended) -> None:
    """Post what was intended, unless the issue has it already, and journal the outcome.

    A page that is a file belongs to the machine that holds the lease: elsewhere the post stays
    intended, and the holder's next tick says it.
    """
    from herorun.operations.record.init import reopen

    if not _may_write_page(run):
        return
    try:
        reopen(run)
        reference = _post_comment(run, intent)
    except (HerorunError, OSError) as error:
        run.record.append(
            Failed(now(), intent.key, intent.attempt, f"the post failed: {describe_error(error)}")
        )
        raise
    _record_done(run, intent, reference)


def _may_write_page(run: MonitoredRun) -> bool:
    """Not where the page is a file of the lease's holder; who has a page from before says the last
    words on it.
    """
    from herorun.operations.record.init import issue_key

    if not getattr(run.issue, "of_this_clone", False):
        return True
    try:
        holder = within(DEADLINE, lambda: other_holder(run))
        has_page = run.issue.find(issue_key(run)) is not None
    except (HerorunError, OSError):
        return True  # who holds it cannot be seen: then the post itself tells what is wrong
    return holder is None or (has_page and holder.owner != run.launcher.owner)


def _post_comment(run: MonitoredRun, intent: Intended) -> str:
    """A comment of its own, an edit of the one that it brings up to date, or both: each may be done
    again.
    """
    reference = ""
    body = mentioning(run.contract.dri or run.launcher.user or "", intent.body)
    if intent.anew:
        post = Post(intent.key, intent.what, body)
        reference = run.issue.find(intent.key) or run.issue.post(post)
    if intent.edits:
        edit_result = run.issue.edit(Post(intent.edits, intent.what, body))
    return reference or edit_result


def _record_done(run: MonitoredRun, intent: Intended, reference: str) -> None:
    title = intent.what if intent.lines else ""
    run.record.append(Done(now(), intent.key, intent.attempt, title, intent.lines, reference))


@contextmanager
def journal_failure(run: MonitoredRun, intent: Intended) -> Iterator[None]:
    """Journals an error of what was intended, and raises it."""
    try:
        yield
    except (HerorunError, OSError) as error:
        run.record.append(Failed(now(), intent.key, intent.attempt, describe_error(error)))
        raise
