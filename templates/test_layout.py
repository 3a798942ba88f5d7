from typing import ClassVar

import pytest

from herorun.stores.layouts import done_file
from ports.disks import PLACE, Trainer
from ports.layout_suite import LayoutSuite


class Saves:
    """What the trainer writes: its marker last."""

    layout = done_file.connect(done_file.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"ckpt_{step}"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        return {"weights": b"w", **({"DONE": b""} if is_complete else {})}

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {}


class TestDoneFile(LayoutSuite):
    """What every layout must do, on every store."""

    near: ClassVar = {"ckpt_5.bak": 5, "ckpt_70.tmp": 70, "old-ckpt_6": 6}
    strange = ("logs", "ckpt", "ckpt_x", "best")
    final = "ckpt_200"

    @pytest.fixture
    def trainer(self) -> Trainer:
        return Saves()


def test_a_marker_without_weights_is_no_checkpoint() -> None:
    assert done_file.problem_of({"DONE"}) == "there is nothing next to DONE"
