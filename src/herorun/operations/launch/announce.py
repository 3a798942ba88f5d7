"""Posts about a launch: before it, on a changed checkpoint policy, and if it did not happen."""

import contextlib
from collections.abc import Mapping
from typing import Any

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.contract import Contract
from herorun.core.drift import differences
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Failed, Intended, Launching
from herorun.core.markdown import code, mention_dri, quote_line, without_markup
from herorun.core.notify.page_policy import Urgency
from herorun.core.record.logbook_entries import change_of
from herorun.core.record.render import command_line
from herorun.core.redaction.scrub import scrub
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.record.page import send_page
from herorun.operations.record.post import deliver, post_entry, post_intent, record_link
from herorun.runs import Run
from herorun.system.clock import now


def announce(run: Run, order: LaunchOrder, launching: Launching) -> None:
    """The launch comment. A failed post aborts a first launch; a relaunch continues and the post
    stays queued.
    """
    key = write_key(Verb.POST, launching.key)
    memory = run.record.memory()
    if key in memory.done:
        _notify_dri(run, order, key)
        return
    if key not in memory.intended:
        title = launch_title(run.contract, launching)
        message, page = (
            launch_comment(run, order, launching),
            Urgency.MUST if _dri_must_know(run, order) else "",
        )
        run.record.append(
            Intended(
                at=now(), key=key, attempt=memory.attempt(key), what=title, body=message, page=page
            )
        )
    try:
        deliver(run, run.record.memory().intended[key])
    except (HerorunError, OSError) as error:
        if not order.relaunch_of:
            raise HerorunError(
                f"Nothing was submitted: the launch could not be announced: {describe_error(error)}"
            ) from None
    _notify_dri(run, order, key)


def launch_title(contract: Contract, launching: Launching) -> str:
    change = change_of(launching)
    named_change = f"Hero {change}" if contract.is_hero else change.capitalize()
    return f"{named_change} requested: {launching.instance}"


def _dri_must_know(run: Run, order: LaunchOrder) -> bool:
    """Whether the DRI must get a page: at every relaunch, and at a launch by another person, if
    there is a channel.
    """
    return bool(run.channels.all) and (bool(order.relaunch_of) or not run.launched_by_dri)


def _notify_dri(run: Run, order: LaunchOrder, key: str) -> None:
    """Send the page before a first launch by another person. A relaunch's page is sent with the
    tick's other pages.
    """
    if order.relaunch_of:
        return
    if why := send_page(run, key):
        raise HerorunError(
            f"Nothing was submitted: {run.dri} could not be notified of the launch: {why}."
        )


def launch_comment(run: Run, order: LaunchOrder, launching: Launching) -> str:
    plan = order.plan
    of_plan = ", of the plan" if launching.adopts else ""  # whether the job has these is unknown
    facts = {
        "Instance": launching.instance,
        "Why": quote_line(scrub(order.why)),
        "DRI": mention_dri(run.dri),
        "Commit": f"`{plan.commit.value}`{of_plan}",
        "Tree dirty": quote_line(order.dirty),
        **({"Policy": quote_line(order.policy)} if order.policy else {}),
        **(
            {"Warnings": quote_line(scrub("; ".join(order.overlooked)))}
            if order.relaunch_of and order.overlooked
            else {}
        ),
        "Command": f"{code(command_line(plan.command_line))}{of_plan}",
        "Output root": f"{code(plan.output_root.value)}{of_plan}",
        **(
            {}
            if launching.adopts
            else {"Starts from": code(plan.start.value.path) if plan.start.value else "scratch"}
        ),
        "Final step": str(plan.final_step.value),
        "Plan": f"`{plan.digest}`",
        "Record": record_link(run),
        **{name: quote_line(scrub(fact)) for name, fact in launching.facts.items()},
    }
    lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"**Hero {change_of(launching)} requested: {launching.instance}**\n\n{lines}"


def announce_retention(run: Run, launching: Launching) -> None:
    """Post a checkpoint policy that differs from the last instance's. A failure never delays a
    launch.
    """
    memory = run.record.memory()
    before = memory.launchings.get(memory.current.name) if memory.current else None
    change = retention_change(before.plan, launching.plan) if before else ""
    if not change:
        return
    title = f"Checkpoint policy changed with {launching.instance}"
    lines = {"Status": title, "Evidence": change, "Decision": "notify", "Next": "continue"}
    with contextlib.suppress(HerorunError, OSError):  # it stays queued
        key = write_key(Verb.TELL, launching.instance, "retention")
        post_entry(run, key, title, without_markup(change), lines)


def retention_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The differences between the checkpoint policies of two recorded plans; empty if there are
    none.

    >>> plan = lambda keep: {"retention": {"value": {"layout": "levanter", "keep": keep}}}
    >>> retention_change(plan(10), plan(3))
    'checkpoints.keep: 10 -> 3'
    """
    old, new = (
        {"checkpoints": plan.get("retention", {}).get("value") or {}} for plan in (before, after)
    )
    return "; ".join(differences(old, new))


def give_up(run: Run, launching: Launching, why: str) -> None:
    """Record that nothing was or will be submitted under this intent, and post that in the issue,
    now or once it is reachable.
    """
    run.record.append(Failed(now(), launching.key, 1, why))
    post_key, key = write_key(Verb.POST, launching.key), write_key(Verb.UNSUBMITTED, launching.key)
    memory = run.record.memory()
    if post_key not in {**memory.done, **memory.queued, **memory.intended} or key in memory.done:
        return
    what, verb = ("adoption", "adopted") if launching.adopts else ("submission", "submitted")
    message = (
        f"It was requested, and ended without a{'n' if launching.adopts else ''} {what}: "
        f"{quote_line(why)}"
    )
    title = f"Not {verb}: {launching.instance}"
    intent = post_intent(
        run, key, title=title, why=message, lines={}, at=now(), edits=post_key, own_comment=False
    )
    run.record.append(intent)
    with contextlib.suppress(HerorunError, OSError):
        deliver(run, intent)
