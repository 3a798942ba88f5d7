"""The demonstration's training script, in real processes."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

import pytest
import tomli_w

from wording import mentions

np = pytest.importorskip("numpy")

REPOSITORY = Path(__file__).parents[2]
DEMO = REPOSITORY / "templates" / "demo"
SMALL = {
    "trainer": {"num_train_steps": 60, "batch_size": 8, "seq_len": 16, "min_step_seconds": 0},
    "model": {"hidden": 24, "embed": 8, "context": 6},
    "optimizer": {"warmup": 5},
    "checkpoints": {"permanent_every": 30, "temporary_every_steps": 5, "keep": 2},
}


def a_config(folder: Path, **changes: dict[str, Any]) -> Path:
    """The demonstration's own configuration, with other roots and these changes."""
    config = tomllib.loads((DEMO / "config.toml").read_text())
    output = {"root": str(folder / "run"), "temporary_root": str(folder / "temporary")}
    for table, values in {**changes, "output": output}.items():
        config[table] |= values
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(tomli_w.dumps(config))
    return folder / "config.toml"


def small(folder: Path, **changes: dict[str, Any]) -> Path:
    return a_config(
        folder,
        **{table: SMALL.get(table, {}) | changes.get(table, {}) for table in SMALL | changes},
    )


def start(config: Path, *options: str, **env: str) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HERORUN_")}
    return subprocess.Popen(
        [sys.executable, str(DEMO / "train.py"), "--config", str(config), *options],
        env={**clean, "PYTHONPATH": str(REPOSITORY / "src"), "PYTHONDONTWRITEBYTECODE": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def train(config: Path, *options: str, **env: str) -> tuple[int, str]:
    with start(config, *options, **env) as process:
        try:
            output, _ = process.communicate(timeout=300)
        finally:
            process.kill()
        return process.returncode, output


def stop_when(process: subprocess.Popen[str], marker: Path, number: signal.Signals) -> int:
    """Send the signal as soon as this file exists. Returns the exit code."""
    with process:
        try:
            until = time.monotonic() + 30
            while not marker.exists() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.002)
            process.send_signal(number)
            process.communicate(timeout=180)
        finally:
            process.kill()
        return process.returncode


def logged_metrics(folder: Path, name: str = "train/loss") -> dict[int, Any]:
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    return {row["step"]: row["metrics"][name] for row in map(json.loads, lines)}


def complete(root: Path) -> dict[int, dict[str, Any]]:
    documents = (json.loads(path.read_text()) for path in root.glob("step-*/metadata.json"))
    return {metadata["step"]: metadata for metadata in documents}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    code, output = train(small(folder))
    assert code == 0, output
    return folder


def same_state(one: Path, other: Path) -> bool:
    """Parameters, moments, random state and data position: every byte."""
    return (one / "run/step-60/state.npz").read_bytes() == (
        other / "run/step-60/state.npz"
    ).read_bytes()


@pytest.fixture(scope="module")
def with_a_bad_shard(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    folder = tmp_path_factory.mktemp("spike")
    quick = {"num_train_steps": 300, "min_step_seconds": 0}
    code, output = train(a_config(folder, trainer=quick, data={"bad_shard": [220, 235]}))
    assert code == 0, output
    return list(logged_metrics(folder).values())


@pytest.mark.thorough
def test_the_loss_falls_from_that_of_a_guess(with_a_bad_shard: list[float]) -> None:
    assert 4.4 < with_a_bad_shard[0] < 5.2  # ln(94) is 4.5
    assert mean(with_a_bad_shard[200:220]) < 3.0


@pytest.mark.thorough
def test_a_bad_shard_makes_a_real_spike_that_passes(with_a_bad_shard: list[float]) -> None:
    before = mean(with_a_bad_shard[200:220])
    assert min(with_a_bad_shard[220:236]) > 1.6 * before
    assert max(with_a_bad_shard[256:]) < 1.3 * before


@pytest.mark.thorough
def test_a_run_resumed_in_the_middle_equals_an_unbroken_one(unbroken: Path, tmp_path: Path) -> None:
    code, output = train(small(tmp_path), "--resume", str(unbroken / "run/step-30"))
    assert code == 0, output
    assert logged_metrics(tmp_path) == {
        step: loss for step, loss in logged_metrics(unbroken).items() if step >= 30
    }
    assert same_state(tmp_path, unbroken)


@pytest.mark.thorough
def test_a_run_that_is_killed_again_and_again_equals_an_unbroken_one(
    unbroken: Path, tmp_path: Path
) -> None:
    config = small(tmp_path, checkpoints={"temporary_every_steps": 1})
    roots = (tmp_path / "temporary", tmp_path / "run")
    for step in (3, 11, 24, 41):
        newest = newest_complete(roots)
        process = start(config, *(["--resume", str(newest)] if newest else []))
        # the folder comes before its data
        stop_when(process, roots[0] / f"step-{step}", signal.SIGKILL)
    code, output = train(config, "--resume", str(newest_complete(roots)))
    assert code == 0, output
    assert logged_metrics(tmp_path) == logged_metrics(unbroken)
    assert same_state(tmp_path, unbroken)


def newest_complete(roots: tuple[Path, ...]) -> Path | None:
    """Every folder with metadata.json must be whole, whenever its writer was killed."""
    parents = [path.parent for root in roots for path in root.glob("step-*/metadata.json")]
    for folder in parents:
        assert (folder / "metadata.json").stat().st_mtime_ns >= (
            folder / "state.npz"
        ).stat().st_mtime_ns
        with np.load(folder / "state.npz") as state:
            assert {name: state[name].shape for name in state.files}
    return max(parents, key=lambda folder: int(folder.name.removeprefix("step-")), default=None)


def test_permanent_checkpoints_and_the_final_one_stay(unbroken: Path) -> None:
    record = complete(unbroken / "run")
    assert {step: metadata["is_temporary"] for step, metadata in record.items()} == {
        30: False,
        60: False,
    }
    assert record[60].keys() == {"step", "timestamp", "is_temporary"}
    assert complete(unbroken / "temporary") == {}


def test_sigterm_ends_with_a_temporary_checkpoint_of_the_last_step(tmp_path: Path) -> None:
    slow = {"num_train_steps": 1000, "min_step_seconds": 0.02}
    process = start(small(tmp_path, trainer=slow))
    assert stop_when(process, tmp_path / "temporary/step-15/metadata.json", signal.SIGTERM) == 143
    last = max(logged_metrics(tmp_path)) + 1
    record = complete(tmp_path / "temporary")
    assert max(record) == last >= 15
    assert record[last]["is_temporary"]
    assert len(record) == 2


@pytest.mark.thorough
def test_it_starts_where_it_is_reported_and_never_elsewhere(unbroken: Path, tmp_path: Path) -> None:
    text, other = str(unbroken / "run/step-30"), str(unbroken / "run/step-60")
    by_env = train(small(tmp_path / "env"), HERORUN_START=text)[1]
    by_option = train(small(tmp_path / "option"), "--resume", text, HERORUN_START=other)[1]
    assert mentions(by_env, "30 updates", f"from {text}")
    assert mentions(by_option, "30 updates", f"from {text}")
    assert mentions(train(tmp_path / "env/config.toml")[1], "0 updates", "from scratch")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": {"hidden": 25}}, "of another model"),
        ({"data": {"source": str(DEMO / "model.py")}}, "trained on another text"),
        ({"trainer": {"num_train_steps": 20}}, "beyond"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(
    unbroken: Path, tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    code, output = train(small(tmp_path, **change), "--resume", str(unbroken / "run/step-30"))
    assert (code, complaint in output) == (1, True), output
    assert not (tmp_path / "run").exists()


def test_an_incomplete_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "step-30").mkdir()
    code, output = train(small(tmp_path), "--resume", str(tmp_path / "step-30"))
    assert (code, "no metadata.json" in output) == (1, True), output


def an_admission(folder: Path, config: Path, **changes: Any) -> str:
    admission = {
        "schema": 1,
        "instance": "tiny-1",
        "config": tomllib.loads(config.read_text()),
        "output_root": str(folder / "run"),
        "tracker_id": "tiny-lm",
    }
    (folder / "admission.json").write_text(json.dumps(admission | changes))
    return str(folder / "admission.json")


def arguments(config: Path, loaded_path: str) -> list[str]:
    return [
        sys.executable,
        str(DEMO / "train.py"),
        "--config",
        str(config),
        "--resume",
        loaded_path,
    ]


def test_it_checks_in_with_what_it_really_uses(unbroken: Path, tmp_path: Path) -> None:
    config, loaded_path = small(tmp_path), str(unbroken / "run/step-30")
    admission = an_admission(
        tmp_path, config, start=loaded_path, argv=arguments(config, loaded_path)
    )
    code, output = train(config, "--resume", loaded_path, HERORUN_ADMISSION=admission)
    assert code == 0, output
    receipt = json.loads((tmp_path / "run/_herorun/receipts/tiny-1.1.json").read_text())
    outcomes = {item["item"]: item["outcome"] for item in receipt["items"]}
    assert receipt["loaded"] == loaded_path
    assert {
        outcomes[name] for name in ("argv", "resolved-config", "output-root", "tracker-id", "start")
    } == {"pass"}


def test_it_does_not_train_when_it_is_refused(unbroken: Path, tmp_path: Path) -> None:
    config, loaded_path = small(tmp_path), str(unbroken / "run/step-30")
    admission = an_admission(
        tmp_path, config, start="/elsewhere/step-30", argv=arguments(config, loaded_path)
    )
    assert train(config, "--resume", loaded_path, HERORUN_ADMISSION=admission)[0] == 78
    assert not (tmp_path / "run/metrics.jsonl").exists()


def test_each_step_is_one_line_and_a_cut_line_stays_apart(tmp_path: Path) -> None:
    config = small(tmp_path, trainer={"num_train_steps": 3})
    (tmp_path / "run").mkdir()
    (tmp_path / "run/metrics.jsonl").write_text('{"tracker": "json_lo')
    code, output = train(config)
    cut, *lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert (code, cut) == (0, '{"tracker": "json_lo')
    assert [(row["tracker"], row["event"], row["step"]) for row in rows] == [
        ("json_logger", "log", step) for step in range(3)
    ]
    assert rows[0]["metrics"].keys() == {
        "train/loss", "throughput/tokens_per_second", "throughput/duration", "grad/norm/total",
        "optim/learning_rate", "global_step", "_timestamp",
    }  # fmt: skip
    assert re.search(r"^step=0/3 loss=4\.\d+", output, re.MULTILINE)


def test_numbers_that_are_not_finite_are_logged_as_strings(tmp_path: Path) -> None:
    train(small(tmp_path, optimizer={"learning_rate": 1e30}, trainer={"num_train_steps": 12}))
    assert "NaN" in logged_metrics(tmp_path).values()


def demo_model() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo_model", DEMO / "model.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gradients_are_those_of_the_loss() -> None:
    model = demo_model().Model(vocabulary=7, context=3, embed_size=4, hidden_size=5, seed=1)
    model.parameters.update(
        {name: value.astype(np.float64) for name, value in model.parameters.items()}
    )
    batch = np.random.default_rng(2).integers(0, 7, (3, 8))
    _, gradients = model.loss_and_gradients(batch)
    for name, value in model.parameters.items():
        for place in [tuple(0 for _ in value.shape), tuple(size - 1 for size in value.shape)]:
            assert gradients[name][place] == pytest.approx(
                slope(model, batch, value, place), abs=1e-6
            ), name


def slope(model: Any, batch: Any, value: Any, place: tuple[int, ...]) -> float:
    was, losses = value[place], []
    for nudge in (1e-6, -1e-6):
        value[place] = was + nudge
        losses.append(model.loss_and_gradients(batch)[0])
    value[place] = was
    return float(losses[0] - losses[1]) / 2e-6


@pytest.mark.thorough
def test_without_the_language_reference_it_reads_docstrings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    text = demo_model().read_text("python-docs")
    assert len(text) > 200_000
    assert text.isascii()
