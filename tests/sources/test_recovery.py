"""The checkpoint that a recovery would start from: which one, when a rule deletes it, how long it
took.
"""

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from builders import NOON, a_contract, a_history
from herorun.core.evidence import Candidate, Checkpoints, Nothing, RecoverySource, SaveTime
from herorun.core.ports import LifecycleRule
from herorun.sources.recovery import read_recovery_source, read_save_time
from herorun.stores.local import LocalStore


class Ruled(LocalStore):
    """A store with rules of its own, or one that will not say."""

    def __init__(self, rules: Iterable[LifecycleRule] = (), refuses: str = "") -> None:
        super().__init__()
        self._rules, self._refuses = tuple(rules), refuses

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        if self._refuses:
            raise OSError(self._refuses)
        return self._rules


def saved_checkpoint(root: Path, step: int, *ages: float) -> Candidate:
    """A checkpoint whose files are so many seconds old at noon."""
    folder = root / f"step-{step}"
    folder.mkdir(parents=True)
    for number, age in enumerate(ages):
        file = folder / f"file-{number}"
        file.write_text("weights")
        os.utime(file, (NOON.timestamp() - age,) * 2)
    return Candidate(path=str(folder), step=step, root=str(root), modified=NOON)


def source(store: LocalStore, *candidates: Candidate) -> RecoverySource | Nothing:
    return read_recovery_source(a_contract(), store, Checkpoints(candidates), a_history())


def test_nothing_deletes_it(tmp_path: Path) -> None:
    newest = saved_checkpoint(tmp_path, 100, 60)

    assert source(LocalStore(), saved_checkpoint(tmp_path, 90, 60), newest) == RecoverySource(
        newest.path, 100
    )
    assert isinstance(source(LocalStore()), Nothing)


def test_the_folders_own_name_and_the_stores_rule(tmp_path: Path) -> None:
    week = LifecycleRule("the bucket deletes objects after 7 days", timedelta(days=7))
    recovery = source(Ruled([week]), saved_checkpoint(tmp_path / "ttl=14d", 100, 3600, 60))
    alone = source(LocalStore(), saved_checkpoint(tmp_path / "ttl=2d", 100, 3600, 60))

    assert isinstance(recovery, RecoverySource) and isinstance(alone, RecoverySource)
    assert (recovery.expires, recovery.rule) == (
        NOON + timedelta(days=7, hours=-1),
        week.description,
    )
    assert alone.expires == NOON + timedelta(days=2, hours=-1)
    assert "ttl=2d" in alone.rule


def test_a_store_that_will_not_say_is_noted(tmp_path: Path) -> None:
    recovery = source(Ruled(refuses="403"), saved_checkpoint(tmp_path, 100, 60))

    assert isinstance(recovery, RecoverySource)
    assert (recovery.expires, recovery.unknown) == (None, "403")


def test_how_long_the_newest_took(tmp_path: Path) -> None:
    both = Checkpoints(
        (saved_checkpoint(tmp_path, 90, 900, 10), saved_checkpoint(tmp_path, 100, 400, 60))
    )

    assert read_save_time(LocalStore(), both) == SaveTime(340.0)
    assert isinstance(read_save_time(LocalStore(), Checkpoints()), Nothing)
    (tmp_path / "step-120.ckpt").write_text("weights")
    one_file = Checkpoints(
        (Candidate(path=str(tmp_path / "step-120.ckpt"), step=120, root=str(tmp_path)),)
    )
    assert isinstance(read_save_time(LocalStore(), one_file), Nothing)
    alone = Checkpoints((saved_checkpoint(tmp_path, 110, 60),))
    assert isinstance(read_save_time(LocalStore(), alone), Nothing)
