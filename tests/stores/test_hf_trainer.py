"""The layout of the Hugging Face Trainer."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from herorun.stores.layouts import hf_trainer
from ports.disks import PLACE, LocalDisk, Trainer
from ports.layout_suite import LayoutSuite
from screens.notices import Notice


class Transformers:
    layout = hf_trainer.connect(hf_trainer.Options(), PLACE)

    def name(self, step: int) -> str:
        return f"checkpoint-{step}"

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> dict[str, bytes]:
        files = {"model.safetensors": b"1", "optimizer.pt": b"1", "rng_state.pth": b"1"}
        state = json.dumps({"global_step": step, "log_history": []}).encode()
        return {**files, "trainer_state.json": state} if is_complete else files

    def beside(self, step: int, *, is_complete: bool) -> dict[str, bytes]:
        return {}


class TestHfTrainer(LayoutSuite):
    near: ClassVar = {
        "checkpoint-500.bak": 500,
        "checkpoint-500.tmp-1700": 500,
        "tmp-checkpoint-500": 500,
    }
    strange = ("checkpoint-", "checkpoint-best", "checkpoints-3", "500", "runs")
    final = "checkpoint-200"

    @pytest.fixture
    def trainer(self) -> Trainer:
        return Transformers()


STATE = '{"global_step": 9}'


@pytest.mark.parametrize(
    ("state", "beside"),
    [
        (STATE, ("model.safetensors",)),
        (STATE, ("adapter_model.safetensors",)),
        (STATE, ("pytorch_model.bin",)),
        (STATE, ("pytorch_model_fsdp_0/__0_0.distcp",)),
        (STATE, ("global_step9/mp_rank_00_model_states.pt",)),
        (STATE, ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")),
        (
            STATE,
            ("model-00001-of-00002.safetensors", "model.safetensors.index.json"),
        ),
        (
            STATE,
            ("model.safetensors.index.json",),
        ),
        (STATE, ("optimizer.pt",)),
        (
            '{"global_step": 8}',
            ("model.safetensors",),
        ),
        ("{}", ("model.safetensors",)),
        ('{"global_step"', ("model.safetensors",)),
        (None, ("model.safetensors",)),
    ],
)
def test_what_is_wrong_with_it_is_reported(
    tmp_path: Path, state: str | None, beside: tuple[str, ...], notice: Notice
) -> None:
    disk = LocalDisk(tmp_path)
    for name in beside:
        disk.write(f"{disk.root}/checkpoint-9/{name}", b"1")
    if state is not None:
        disk.write(f"{disk.root}/checkpoint-9/trainer_state.json", state.encode())
    (candidates,) = Transformers.layout.candidates(disk.store, disk.root, False)
    assert candidates.problem == notice
