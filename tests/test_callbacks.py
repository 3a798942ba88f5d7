"""The callbacks of `templates/callbacks`, driven as their trainers drive them: they check in once
and log each step.

The trainers themselves are too heavy for the tests: what stands in for them here has the names and
the signatures of `tests/stubs`, which mypy holds the callbacks to.
"""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import herorun

FOLDER = Path(__file__).parents[1] / "templates" / "callbacks"


@pytest.fixture
def logged_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the admitted run's tracker reads; the job was admitted to go on from step-2."""
    root = tmp_path / "root"
    admission = {
        "schema": 1,
        "instance": "tiny-1",
        "output_root": str(root),
        "metrics": "metrics.jsonl",
        "start": str(root / "step-2"),
        "config": {"seed": 7},
    }
    (tmp_path / "admission.json").write_text(json.dumps(admission))
    monkeypatch.setenv("HERORUN_ADMISSION", str(tmp_path / "admission.json"))
    for name in ("RANK", "SLURM_PROCID", "HERORUN_CODE"):
        monkeypatch.delenv(name, raising=False)
    return root / "metrics.jsonl"


def load(monkeypatch: pytest.MonkeyPatch, name: str, **modules: Any) -> Any:
    """A callback's module, with these in place of its trainer's."""
    for module, names in modules.items():
        stand_in = ModuleType(module.replace("__", "."))
        vars(stand_in).update(names)
        monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded_module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded_module)
    return loaded_module


def rows(path: Path) -> list[tuple[int, float]]:
    return [
        (row["step"], row["train/loss"]) for row in map(json.loads, path.read_text().splitlines())
    ]


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load(
        monkeypatch,
        "lightning_callback",
        lightning={},
        lightning__pytorch={"LightningModule": object, "Trainer": object},
        lightning__pytorch__callbacks={"Callback": object},
    )


def test_lightning_logs_each_update_once(logged_path: Path, lightning: Any) -> None:
    hook = lightning.HerorunCallback({"seed": 7}, str(logged_path.parent))
    trainer = SimpleNamespace(
        ckpt_path=str(logged_path.parent / "step-2"), global_step=2, callback_metrics={}
    )
    hook.on_fit_start(trainer, None)
    for batch in range(4):  # two batches an update
        trainer.global_step = 3 + batch // 2
        trainer.callback_metrics = {"train/loss": 2.5 - trainer.global_step / 10}
        hook.on_train_batch_end(trainer, None, None, None, batch)
    assert rows(logged_path) == [(2, 2.2), (3, 2.1)]


def test_lightning_is_refused_from_another_checkpoint(logged_path: Path, lightning: Any) -> None:
    hook = lightning.HerorunCallback({"seed": 7}, str(logged_path.parent))
    with pytest.raises(herorun.Refused):
        hook.on_fit_start(SimpleNamespace(ckpt_path=None), None)


def test_hf_trainer_logs_what_the_trainer_logs(
    logged_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("TrainerCallback", "TrainerControl", "TrainerState", "TrainingArguments")
    module = load(monkeypatch, "hf_trainer_callback", transformers=dict.fromkeys(names, object))
    hook = module.HerorunCallback({"seed": 7}, str(logged_path.parent / "step-2"))
    state = SimpleNamespace(global_step=2, is_world_process_zero=True)
    hook.on_train_begin(SimpleNamespace(output_dir=str(logged_path.parent)), state, None)
    state.global_step = 3
    hook.on_log(None, state, None, logs={"train/loss": 2.5})
    state.is_world_process_zero = False
    hook.on_log(None, state, None, logs={"train/loss": 9.0})
    assert rows(logged_path) == [(2, 2.5)]


def test_levanter_logs_the_step_that_was_completed(
    logged_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StepInfo:
        step, loss, step_duration = 7, 2.5, 0.25

        def __class_getitem__(cls, item: Any) -> Any:
            return cls

    module = load(
        monkeypatch, "levanter_hook", levanter={}, levanter__callbacks={"StepInfo": StepInfo}
    )
    module.herorun_hook(StepInfo())
    assert rows(logged_path) == [(7, 2.5)]
