"""What a fork writes into both runs: one comment and one logbook entry in each."""

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import HerorunError, describe_error
from herorun.core.markdown import without_markup
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.post import post_entry, record_link
from herorun.runs import Run
from herorun.system.files import hold_lock


def record_both_sides(old: Run, new: Run, facts: dict[str, str], issue: str) -> list[str]:
    """Write one comment and one entry in each run, once for each key."""
    init_event = old.record.memory().initialised
    old_links = {
        "Issue": init_event.issue if init_event else "none",
        "Record": f"branch {old.record.branch}, {record_link(old)}",
    }
    new_links = {"Issue": issue, "Record": f"branch {new.record.branch}, {record_link(new)}"}
    sides = (
        (
            new,
            write_key(Verb.FORKED_FROM, old.slug),
            f"{new.slug} is a fork of {old.slug}",
            old_links,
            "train from the checkpoint",
        ),
        (
            old,
            write_key(Verb.FORK, new.slug),
            f"{old.slug} was forked: {new.slug}",
            new_links,
            f"{old.slug} is not affected",
        ),
    )
    warnings = []
    for run, key, title, link, after in sides:
        lines = {
            "Status": title,
            "Evidence": facts["Source checkpoint"],
            "Decision": facts["Reason"],
            "Next": after,
            **facts,
            **{f"Other {name.lower()}": scrub(value) for name, value in link.items()},
        }
        body = "\n".join(
            f"- {name}: {without_markup(value)}" for name, value in list(lines.items())[4:]
        )
        warnings += _record_fork(run, key, title, body, lines)
    return warnings


def _record_fork(run: Run, key: str, title: str, body: str, lines: dict[str, str]) -> list[str]:
    try:
        with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
            post_entry(run, key, title, body, lines)
        push_result = run.record.push()
        return [] if push_result else [f"the record of {run.slug} is not pushed: {push_result.why}"]
    except (HerorunError, OSError) as error:
        return [f"the issue of {run.slug} was not updated yet: {describe_error(error)}"]
