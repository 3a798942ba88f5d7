"""The running job writes to another output root than the recorded one.

Why: its checkpoints are not found: the next recovery starts from an older one or from nothing, and
an old root may be overwritten.
Fix: find out where the trainer derives its path from; stop the job (`herorun stop RUN`), and launch
again with the pinned root.
Source: marin-community/marin, manage-hero-run: output path mismatch between launcher and
babysitter; two recoveries got a new hash in their path and began at step 0.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Checkpoints,
    History,
    Instance,
    Job,
    JobLog,
    Nothing,
    Receipt,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lineage import is_under
from herorun.core.notify.escalation import EscalationReason


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def output_moved(
    job: Job,
    contract: Contract,
    history: History,
    receipt: Receipt | Nothing | Unavailable,
    identity: TrackerIdentity | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for each source that names a root: the contract in use, the receipt, the log or
    the checkpoints, the tracker's config. A source that was not read ends no alert.
    """
    current = history.current
    if current is None:
        return [not_applicable("no instance was launched yet")]
    verdicts = [_by_contract(contract, current)]
    if isinstance(receipt, Receipt) and receipt.instance == job.instance:
        verdicts += _by_receipt(receipt)
    if isinstance(log, JobLog):
        verdicts += _by_log(log, current, checkpoints)
    if isinstance(identity, TrackerIdentity) and identity.state is TrackerState.RUNNING:
        verdicts += _by_config(identity, current.roots)
    return verdicts


def _by_contract(contract: Contract, current: Instance) -> Verdict:
    root, recorded_root = contract.output.root, current.output_root
    if root.rstrip("/") != recorded_root.rstrip("/"):
        message = (
            f"the babysitter reads {root}, but {current.name} was launched into {recorded_root}"
        )
        return failed(message, subject="contract")
    message = f"the babysitter reads {recorded_root}, into which {current.name} was launched"
    return passed(message, subject="contract")


def _by_receipt(receipt: Receipt) -> list[Verdict]:
    """Never a failure: a job with another root refused to train, as `refused-at-check-in` says."""
    return [
        passed(f"check-in: the output root {message}", subject="receipt")
        for item, outcome, message in receipt.items
        if item == "output-root" and outcome == "pass"
    ]


def _by_log(
    log: JobLog, current: Instance, checkpoints: Checkpoints | Nothing | Unavailable
) -> list[Verdict]:
    """Judges the newest save in the log, unless the instance has also saved in its recorded roots.

    A save may be written to a disk first and then uploaded, so a path is not compared with a URL.
    """
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    newest = log.saves[-1] if log.saves else ""
    alike = ("://" in newest) is ("://" in current.output_root)
    if newest and is_under(newest, current.roots):
        return [passed(f"the log of {current.name} names {newest}", subject="log")]
    own = [c for c in candidates if c.modified and c.modified >= current.started]
    if own:
        return [passed(f"{current.name} saved {own[0].path}", subject="log")]
    if not newest or not alike:
        return []
    message = (
        f"the log of {current.name} names {newest}, but the recorded root is {current.output_root}"
    )
    return [failed(message, subject="log")]


def _by_config(identity: TrackerIdentity, roots: tuple[str, ...]) -> list[Verdict]:
    """Fails only if none of the config's paths is inside a recorded root, or contains one."""
    from herorun.core.config.output_keys import output_paths

    paths = output_paths(identity.config)
    if not paths:
        return []
    for key, path in paths.items():
        if is_under(path, roots) or any(is_under(root, [path]) for root in roots):
            return [passed(f"the tracker's config says {key} = {path}", subject="tracker")]
    key, path = next(iter(paths.items()))
    return [
        failed(
            f"the tracker's config says {key} = {path}, but the recorded root is {roots[0]}",
            subject="tracker",
        )
    ]
