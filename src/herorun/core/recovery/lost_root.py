"""Whether a root that the run wrote to is gone: of a job that lives as of one that has ended."""

from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.job_evidence import Scene


@dataclass(frozen=True)
class LostRoot:
    """A root of the run that was there and is gone."""

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


def lost_root(scene: Scene) -> LostRoot | None:
    """Of a job that lives as of one that has ended. None where it is there, where it never held
    anything that was seen, and where nobody knows."""
    root = scene.root
    if root is None:
        return None
    if not root.there and _was_used(root.path, scene):
        return LostRoot(root.path)
    if not root.temporary_there and _temporary_was_used(root.temporary, scene):
        return LostRoot(root.temporary, temporary=True)
    return None


def _was_used(path: str, scene: Scene) -> bool:
    """Whether this run's own files were seen in it: checkpoints that are all gone, or a receipt
    that is gone. A job may fail before it writes anything there; and one whose receipt stands in
    its log may never have.
    """
    history, checkpoints = scene.history, scene.checkpoints
    alone = {instance.output_root.rstrip("/") for instance in history.instances} == {path}
    is_emptied = history.most_saved > 0 and checkpoints is not None and not checkpoints.candidates
    current = history.current
    lost_receipt = scene.receipt_gone and current is not None and current.name in history.checked_in
    return alone and (is_emptied or lost_receipt)


def _temporary_was_used(path: str, scene: Scene) -> bool:
    """Whether something is lost with it: a newer checkpoint was seen there than any that is left,
    or the log misses a file in it. A trainer deletes its last temporary checkpoint itself once a
    permanent one follows.
    """
    newest_step, checkpoints = scene.history.temporary_saved, scene.checkpoints
    if newest_step is None or checkpoints is None:
        return False
    log_misses_file = scene.triage is not None and f"{path}/" in scene.triage.excerpt
    return log_misses_file or all(
        candidate.step < newest_step for candidate in checkpoints.candidates
    )
