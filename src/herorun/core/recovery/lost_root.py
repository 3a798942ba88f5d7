"""Whether a root that the run wrote to is missing, for a live or an ended job."""

from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.job_evidence import EndContext


@dataclass(frozen=True)
class LostRoot:
    """A root of the run that existed and is missing."""

    path: str
    temporary: bool = False

    @property
    def message(self) -> str:
        return f"{self.name} is gone"

    @property
    def name(self) -> str:
        return f"the {'temporary' if self.temporary else 'output'} root {self.path}"

    @property
    def advice(self) -> str:
        return f"Find out who removed or unmounted {self.path}, and restore it with its contents."


def lost_root(scene: EndContext) -> LostRoot | None:
    """The missing root of a live or ended job. None if the roots exist, if nothing was ever seen in
    them, or if it is unknown.
    """
    root = scene.root
    if root is None:
        return None
    if not root.there and _was_used(root.path, scene):
        return LostRoot(root.path)
    if not root.temporary_there and _temporary_was_used(root.temporary, scene):
        return LostRoot(root.temporary, temporary=True)
    return None


def _was_used(path: str, scene: EndContext) -> bool:
    """Whether this run's files were seen in the root: checkpoints that are all missing now, or a
    receipt that is. A job may fail before it writes anything there, and one whose receipt is in its
    log may never have written.
    """
    history, checkpoints = scene.history, scene.checkpoints
    alone = {instance.output_root.rstrip("/") for instance in history.instances} == {path}
    is_emptied = history.most_saved > 0 and checkpoints is not None and not checkpoints.candidates
    current = history.current
    lost_receipt = scene.receipt_gone and current is not None and current.name in history.checked_in
    return alone and (is_emptied or lost_receipt)


def _temporary_was_used(path: str, scene: EndContext) -> bool:
    """Whether data was lost with the temporary root: its newest checkpoint was newer than all
    remaining ones, or the log reports a missing file in it. (A trainer deletes its last temporary
    checkpoint itself after a permanent one.)
    """
    newest_step, checkpoints = scene.history.temporary_saved, scene.checkpoints
    if newest_step is None or checkpoints is None:
        return False
    log_misses_file = scene.triage is not None and f"{path}/" in scene.triage.excerpt
    return log_misses_file or all(
        candidate.step < newest_step for candidate in checkpoints.candidates
    )
