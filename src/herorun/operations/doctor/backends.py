"""`herorun doctor` for a run's back ends: scheduler, tracker, stores, issue, channels, secrets, log
patterns.

Each is queried only as the commands query it: it works, or the error says why not.
"""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from herorun import adapter_declarations, discover, signatures
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.canonical_json import timestamp
from herorun.core.check import Gate
from herorun.core.doctor_report import DoctorPart, ExaminesItself, Fit, Probe
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import TrackerState
from herorun.core.finding import count
from herorun.core.ports import Channel, Post, scheduler_traits
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.heartbeat import last_heartbeat
from herorun.runs import Run
from herorun.store_router import RoutedStore
from herorun.system.clock import now
from herorun.system.heartbeat_ping import ping, ping_problem
from herorun.system.process import run as run_program

SECONDS = 20.0


def probes(run: Run, send_test: bool = False) -> Iterator[tuple[str, str, Probe]]:
    """The probes of a run. Runs that share a back end use the same name for it."""
    contract = run.contract
    yield "contract", run.slug, lambda: _contract(run)
    kind = contract.scheduler.kind
    for argv in adapter_declarations.programs(kind, contract.scheduler.options):
        yield "scheduler", f"{kind}, {argv[0]}", partial(_program, kind, argv)
    yield "scheduler", _join_kind_and_slug(kind, run.slug), lambda: _scheduler(run)
    yield (
        "tracker",
        _join_kind_and_slug(contract.tracker.kind, run.slug),
        lambda: _examine_tracker(run),
    )
    roots = [root for root in (contract.output.root, contract.output.temporary_root) if root]
    for root in (*roots, *filter(None, [contract.start.from_])):
        if "://" in root:  # one login for each kind of store
            yield "login", root.partition("://")[0], partial(_login, run, root)
    for root in roots:
        yield "store", root, partial(_root, run, root)
    where = f" {contract.issue.repo}" if contract.issue.repo else f", {run.slug}"
    yield "issue", f"{contract.issue.kind}{where}", lambda: _issue(run)
    for channel in run.channels.all:
        yield (
            "channel",
            channel.name,
            partial(_channel, channel, send_test),
        )
    if heartbeat := contract.notify.heartbeat:
        yield "channel", heartbeat, partial(_heartbeat, heartbeat, send_test)
    for secret in contract.command.secrets:
        yield "secret", secret, partial(_secret, run, secret)
    yield "patterns", _patterns_name(run), lambda: _patterns(run)
    if not contract.babysit.declined and run.record.memory().instances:
        yield "babysitter", run.slug, lambda: _babysitter(run)


def _join_kind_and_slug(kind: str, slug: str) -> str:
    return f"{kind}, {slug}"


def _contract(run: Run) -> Iterator[DoctorPart]:
    if run.file.is_reviewable:
        yield DoctorPart("contract", run.slug, Fit.OK, f"{run.file.path} is valid")
        return
    message = f"{run.file.path} is valid, but its text is in no commit, which blocks a launch"
    fix = f"Commit and push {run.file.path}."
    yield DoctorPart("contract", run.slug, Fit.FAILED, message, fix)


def describe_missing_program(kind: str, program: str) -> DoctorPart:
    ways = f"Install {program}, or run herorun on a machine that has it"
    if adapter_declarations.runs_on_a_host(kind, program):
        ways = (
            f"Install {program}, run herorun on a machine that has it, or set [scheduler] host to "
            "such a machine, for example the login node"
        )
    fix = f"{ways}: the contract's scheduler is {kind!r}."
    return DoctorPart(
        "scheduler", f"{kind}, {program}", Fit.FAILED, f"{program} is not on the PATH", fix
    )


def _program(kind: str, argv: tuple[str, ...]) -> Iterator[DoctorPart]:
    where = shutil.which(argv[0])
    name = f"{kind}, {argv[0]}"
    if where is None:
        yield describe_missing_program(kind, argv[0])
        return
    answer = run_program(argv, SECONDS)
    output = (answer.text.strip() or answer.complaint).splitlines()[0]
    yield DoctorPart("scheduler", name, Fit.OK, f"{output}, {where}")


def _scheduler(run: Run) -> Iterator[DoctorPart]:
    name = _join_kind_and_slug(run.contract.scheduler.kind, run.slug)
    jobs = run.scheduler.live_jobs(run.slug)
    where = f" on {run.place.reach.login.host}" if run.place.reach else ""
    yield DoctorPart(
        "scheduler",
        name,
        Fit.OK,
        f"answers{where}: {count(len(jobs), 'live job')} of {run.slug}",
    )
    yield from _more(run.scheduler)


def _examine_tracker(run: Run) -> Iterator[DoctorPart]:
    name = _join_kind_and_slug(run.contract.tracker.kind, run.slug)
    yield from _more(run.tracker)
    identify = getattr(run.tracker, "identify", None)
    try:
        if identify is not None:
            identity = identify()
            if identity.state is TrackerState.UNREACHABLE:
                yield DoctorPart("tracker", name, Fit.UNKNOWN, identity.why)
                return
            message = "answers; the run's identity was read"
        else:
            batch = run.tracker.read("")
            message = f"can be read: {count(len(batch.rows), 'row')} in the first read"
    except FileNotFoundError:
        message = "there is nothing to read yet: the run has reported nothing"
        yield DoctorPart("tracker", name, Fit.SKIPPED, message)
        return
    yield DoctorPart("tracker", name, Fit.OK, message)


def _login(run: Run, root: str) -> Iterator[DoctorPart]:
    """The account in use. A listing would not show it, because a bucket may be public."""
    if isinstance(run.store, RoutedStore):
        yield from run.store.examine(root)


def _root(run: Run, root: str) -> Iterator[DoctorPart]:
    """Tests a listing; `preflight --probe` tests a write."""
    try:
        message = f"can be listed: {count(len(run.store.names(root)), 'entry', 'entries')}"
        fit = Fit.OK
    except FileNotFoundError:
        message, fit = "does not exist yet, so nothing was read", Fit.SKIPPED
    write_text = f"a write was not tried: `herorun preflight {run.slug} --probe` tries one"
    yield DoctorPart("store", root, fit, f"{message}; {write_text}")
    if (
        root.startswith("/")
        and run.place.reach is None
        and scheduler_traits(run.scheduler).runs_here
    ):
        free = shutil.disk_usage(_nearest_folder(Path(root))).free
        fit = Fit.OK if free >= 1 << 30 else Fit.FAILED
        yield DoctorPart("disk", root, fit, f"{free / (1 << 30):.1f} GiB free")


def _nearest_folder(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _issue(run: Run) -> Iterator[DoctorPart]:
    issue = run.contract.issue
    name = f"{issue.kind} {issue.repo}" if issue.repo else f"{issue.kind}, {run.slug}"
    if isinstance(run.issue, ExaminesItself):
        yield from run.issue.examine()
        return
    run.issue.find(write_key(Verb.ISSUE, run.slug))
    yield DoctorPart("issue", name, Fit.OK, "can be read")


def _secret(run: Run, name: str) -> Iterator[DoctorPart]:
    """Whether the job would get the secret; its value is not read."""
    own_environment = "this environment"
    traits = scheduler_traits(run.scheduler)
    source = traits.secrets_source or own_environment
    if source != own_environment and traits.secrets_vouched:
        message = f"is set in {source}, as the contract says; not tested"
        yield DoctorPart("secret", name, Fit.OK, message)
    elif source != own_environment:
        message = f"must be set in {source}, which cannot be read from here"
        yield DoctorPart("secret", name, Fit.UNKNOWN, message)
    elif os.environ.get(name):
        yield DoctorPart("secret", name, Fit.OK, "is set here")
    else:
        yield DoctorPart(
            "secret",
            name,
            Fit.FAILED,
            "is not set here",
            f"Export {name} in the shell that launches.",
        )


def _channel(channel: Channel, send_test: bool) -> Iterator[DoctorPart]:
    problem = channel.problem()
    message = problem or "is set; not tested: `--send-test` sends a message"
    if send_test and not problem:
        problem, message = _send_test(channel)
    fix = (
        f"Export {channel.name} with the channel's address in the shell that starts the babysitter."
        if problem
        else ""
    )
    yield DoctorPart("channel", channel.name, _fit_of(problem, send_test), message, fix)


def _fit_of(problem: str, send_test: bool) -> Fit:
    """A channel to which nothing was sent is not known to work."""
    return Fit.FAILED if problem else Fit.OK if send_test else Fit.SKIPPED


def _heartbeat(variable: str, send_test: bool) -> Iterator[DoctorPart]:
    problem = ping(variable) if send_test else ping_problem(variable)
    good = "took a ping" if send_test else "is set; not tested: `--send-test` sends a ping"
    fix = (
        "Set the variable to the ping URL of your service, then `herorun doctor --send-test` again."
        if problem
        else ""
    )
    yield DoctorPart("channel", variable, _fit_of(problem, send_test), problem or good, fix)


def _send_test(channel: Channel) -> tuple[str, str]:
    """Why the test message was refused, or ""; and the message about it."""
    at = timestamp(now().replace(microsecond=0))
    body = (
        f"`herorun doctor --send-test` sent this at {at}: pages of the run arrive here. Nothing "
        "is wrong."
    )
    try:
        channel.post(Post(write_key(Verb.TEST, at), "a test message", body))
    except (HerorunError, OSError) as error:
        why = scrub(describe_error(error))
        return why, f"did not take the test message: {why}"
    return "", f"accepted the test message of {at}; ask its reader whether it arrived"


def _patterns_name(run: Run) -> str:
    own_file = run.contract.babysit.signatures
    return f"{own_file} of {run.slug}" if own_file else "shipped"


def _patterns(run: Run) -> Iterator[DoctorPart]:
    """Reads and compiles every row; an invalid one raises `WrongUse`, which names it."""
    rows = signatures.of_contract(run.contract, run.repository.top).signatures
    own = len(rows) - len(signatures.load_signature_set().signatures)
    more = f", {own} more than are shipped" if own > 0 else ""
    yield DoctorPart("patterns", _patterns_name(run), Fit.OK, f"{len(rows)} log signatures{more}")


def _babysitter(run: Run) -> Iterator[DoctorPart]:
    from herorun.core.remote.watchdog import WatchState, watchdog
    from herorun.operations.report.babysitter_state import (
        describe_babysitter,
        handed_away,
        is_babysitter_lost,
        monitor_is_stale,
    )

    run.record.fetch(run.record.ask_recently)  # the ticks of another machine are on the remote
    memory, handover = run.record.memory(), handed_away(run)
    checks = {each.name: each for each in discover.checks(Gate.HEALTH)}
    silence = watchdog(run.slug, memory, run.contract, checks, now())
    is_finished = silence.monitor is WatchState.NOT_WATCHED  # or down, and answered by a person
    fit, fix = Fit.OK, ""
    message = describe_babysitter(run, silence.why if is_finished else "")
    if not is_finished and handover and run.record.remote_unread:
        fit = Fit.UNKNOWN
        message += f"; the record on the remote could not be read: {run.record.remote_unread}"
    elif not is_finished and (monitor_is_stale(run) or is_babysitter_lost(run)):
        command = f"herorun babysit {run.slug}"
        start = in_tmux(elsewhere(command) if handover else f"`{command}`")
        on = f"as {handover.to}, " if handover else ""
        fit, fix = Fit.FAILED, f"Start it {on}{start}."
    elif not is_finished and handover:
        has_ticked = memory.last_seen is not None and memory.last_seen > handover.at
        fit = Fit.OK if has_ticked else Fit.UNKNOWN
    elif not is_finished and last_heartbeat(run) is None:
        start = in_tmux(f"`herorun babysit {run.slug}`")
        fit, fix = Fit.UNKNOWN, f"Unless another machine monitors it, start it {start}."
    yield DoctorPart("babysitter", run.slug, fit, message, fix)


def _more(adapter: object) -> Iterator[DoctorPart]:
    if isinstance(adapter, ExaminesItself):
        yield from adapter.examine()
