"""What a patrol under a timer sends: changes, and once a day a sign that it still runs.

Nobody reads a timer's standard output. The last message is stored on this machine; one that no
channel accepted is sent again by the next patrol.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.canonical_json import canonical, digest
from herorun.core.errors import HerorunError, describe_error
from herorun.core.notify.page_policy import Urgency
from herorun.core.patrol.summary_line import news_facts
from herorun.core.ports import Post
from herorun.core.redaction.scrub import scrub
from herorun.core.untrusted_json import read_json
from herorun.operations.record.page import channels_for
from herorun.operations.remote.patrol import PatrolTick
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import write_atomic

SENT_FILE = "patrol-sent.json"
MIN_INTERVAL = timedelta(days=1)


def send_patrol(run: Run, tick: PatrolTick) -> list[str]:
    """Send it by the first channel of `[notify]` that accepts it; returns why none did, as
    texts.
    """
    facts = digest(news_facts(tick.observation, tick.assessment))
    last_facts, at = _last_sent(run)
    if facts == last_facts and at is not None and now() - at < MIN_INTERVAL:
        return []
    if not run.channels.all:
        return ["the contract names no channel in [notify], so nothing was sent"]
    whys = []
    for channel in channels_for(run, Urgency.NEWS):
        try:
            channel.post(_patrol_post(run, tick, facts))
        except (HerorunError, OSError) as error:
            whys.append(f"{channel.name}: {scrub(describe_error(error))}")
            continue
        _keep_sent(run, facts)
        return []
    return whys


def _patrol_post(run: Run, tick: PatrolTick, facts: str) -> Post:
    advice = [f"{each.message}\n{each.command}".strip() for each in tick.assessment.advice]
    key = write_key(Verb.PATROL, run.slug, facts[7:19], f"{now():%Y-%m-%dT%H:%M}")
    title = f"{run.slug} is {tick.assessment.state}"
    return Post(key, title, scrub("\n\n".join([tick.line, *advice])))


def _last_sent(run: Run) -> tuple[str, datetime | None]:
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = read_json((run.state / SENT_FILE).read_bytes())
        return str(document["facts"]), datetime.fromisoformat(document["at"])
    return "", None


def _keep_sent(run: Run, facts: str) -> None:
    with suppress(OSError, HerorunError):  # a full disk costs a second message, not the tick
        run.prepare()
        document = {"facts": facts, "at": now().isoformat()}
        write_atomic(run.state / SENT_FILE, (canonical(document) + "\n").encode())
