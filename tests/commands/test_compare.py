"""`herorun compare` of files, and of a run's own instances."""

import json

import pytest
from click.testing import CliRunner

from herorun.commands.compare import command
from herorun.core.errors import WrongUse
from wording import mentions


@pytest.fixture
def curves(tmp_path):
    rows = [f"{step},2.0,{100 + step}" for step in range(50)]
    for name, lines in {"a": rows, "b": [*rows[:-1], "49,3.0,149"]}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["step,loss,tokens_per_s", *lines]) + "\n")
    return tmp_path


def ran(where, *words):
    process = CliRunner().invoke(
        command, list(words), obj=str(where), standalone_mode=False, catch_exceptions=False
    )
    return process.return_value, process.stdout


def run_to_document(where, *words):
    code, out = ran(where, *words, "--json")
    return code, json.loads(out)


def test_the_shape_and_the_exit_codes(curves):
    code, document = run_to_document(
        curves, "a.csv", "b.csv", "--gate", "loss mean <= +0.5%", "--metric", "tokens_per_s"
    )

    assert (
        code,
        document["schema"],
        document["verdict"],
        document["kind"],
        document["window"],
    ) == (
        1,
        1,
        "no-go",
        "curves",
        [0, 49],
    )
    assert [each["metric"] for each in document["metrics"]] == ["loss", "tokens_per_s"]
    assert document["gates"][0]["measured"] == pytest.approx(1.0)
    assert ran(curves, "a.csv", "b.csv", "--gate", "loss mean <= +2%")[0] == 0
    assert ran(curves, "a.csv", "b.csv")[0] == 0
    assert ran(curves, "a.csv", "b.csv", "--window", "60:", "--gate", "loss mean <= 1")[0] == 3


def test_what_cannot_be_compared_without_a_gate_names_a_reason(curves):
    _, out = ran(curves, "a.csv", "b.csv", "--window", "60:")

    assert not out.rstrip().endswith(":")


@pytest.mark.parametrize("column", ["loss", "train/loss", "Training Loss"])
def test_a_files_loss_may_have_any_name_that_a_backtest_knows(curves, column):
    for name in ("a", "b"):
        path = curves / f"{name}.csv"
        path.write_text(path.read_text().replace("step,loss", f"step,{column}"))
    code, document = run_to_document(curves, "a.csv", "b.csv", "--gate", "loss mean <= +0.5%")
    assert (code, document["verdict"], document["window"]) == (1, "no-go", [0, 49])
    assert document["gates"][0]["measured"] == pytest.approx(1.0)


def test_a_repeat_is_reported_as_noise(curves):
    _, out = ran(curves, "a.csv", "b.csv", "--repeat")

    assert mentions(out, "49 of", "50 steps", "equal")
    assert mentions(out, "difference", "49")


@pytest.mark.parametrize(
    "words",
    [
        ("a.csv", "gone.csv"),
        ("a.csv", "b.csv", "--gate", "loss < 1"),
        ("a.csv", "b.csv", "--window", "12"),
    ],
)
def test_what_is_no_comparison(curves, words):
    with pytest.raises(WrongUse):
        ran(curves, *words)
