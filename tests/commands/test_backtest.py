"""`herorun backtest`: files in, alerts and figures out."""

import json
import os

import pytest
from click.testing import CliRunner

from herorun import cli
from herorun.commands.backtest import command
from herorun.core.errors import WrongUse
from wording import mentions

CALM = [f"{i},2.0,{i}" for i in range(100)]
SPIKE = [f"{i},3.5,{i}" for i in range(100, 130)]


def write(folder, name, lines, header="step,loss,timestamp"):
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


@pytest.fixture
def curves(tmp_path):
    write(tmp_path, "calm.csv", CALM)
    write(tmp_path, "spike.csv", CALM + SPIKE)
    labels = {
        "calm.csv": {
            "label": "clean",
            "events": [],
            "time_label": "",
            "time_events": [],
            "rows": 100,
        },
        "spike.csv": {
            "label": "spike-sustained",
            "events": [[100, 129, "x1.75"]],
            "time_label": "",
            "time_events": [],
        },
    }
    (tmp_path / "LABELS.json").write_text(json.dumps(labels))
    return tmp_path


def ran(*args):
    return CliRunner().invoke(command, [str(arg) for arg in args], standalone_mode=False)


def run(*args):
    """As `ran`, and what goes wrong is raised."""
    return CliRunner().invoke(
        command, [str(arg) for arg in args], standalone_mode=False, catch_exceptions=False
    )


def run_to_document(*args):
    process = ran(*args, "--json")
    return process.return_value, json.loads(process.stdout)


def test_the_promised_shape(curves):
    code, document = run_to_document(curves / "calm.csv", curves / "spike.csv")

    assert code == 1 and document["schema"] == 1
    calm, spike = document["files"]
    assert (calm["rows"], calm["alerts"]) == (100, [])
    (alert,) = [a for a in spike["alerts"] if a["check"] == "loss-spike"]
    assert {"check", "severity", "row", "step", "until_row", "message"} <= alert.keys()
    assert (alert["severity"], alert["row"], alert["step"], alert["until_row"]) == (
        "critical",
        109,
        109,
        None,
    )
    assert document["totals"]["rows"] == 230


def test_a_calm_curve_is_clear(curves):
    assert ran(curves / "calm.csv").return_value == 0


def test_labels_give_figures(curves):
    paths = [curves / "calm.csv", curves / "spike.csv", "--labels", curves / "LABELS.json"]
    totals = run_to_document(*paths)[1]["totals"]

    assert (totals["false_alarms"], totals["events"], totals["found"], totals["missed"]) == (
        0,
        1,
        1,
        0,
    )
    assert totals["false_alarms_per_1000_steps"] == 0.0 and totals["median_delay_steps"] == 9
    page = ran(*paths, "--markdown").output
    assert mentions(page, "health", "checks") and "| herorun | 0 |" in page


def test_rows_in_which_nothing_can_be_judged_are_no_quiet_hours(curves):
    write(curves, "other.csv", [f"{i},{i % 7}" for i in range(500)], "step,reward")
    labels = json.loads((curves / "LABELS.json").read_text())
    labels["other.csv"] = labels["calm.csv"]
    (curves / "LABELS.json").write_text(json.dumps(labels))
    paths = [curves / "calm.csv", curves / "other.csv", "--labels", curves / "LABELS.json"]

    totals = run_to_document(*paths)[1]["totals"]
    assert (totals["rows"], totals["clean_rows"]) == (600, 100)


def test_people_are_notified_each_alert(curves):
    output = ran(curves / "spike.csv").output

    assert "spike.csv: 130 rows" in output and mentions(
        output, "critical row 109 ", "loss-spike: ", "1.75"
    )


def test_values_that_are_no_numbers_and_times_of_any_kind(curves):
    lines = [
        "1,NaN,,2020-01-01 10:00:00,5",
        "2,inf,1.5,1577872800000",
        "3,-inf,,nonsense",
        "4,2.0,1.0,",
    ]
    path = write(
        curves,
        "odd.csv",
        [line.replace(",5", "") for line in lines],
        "step,loss,grad_norm,timestamp",
    )
    _, document = run_to_document(path)

    assert [(a["check"], a["row"], a["until_row"]) for a in document["files"][0]["alerts"]] == [
        ("not-finite", 0, 3)
    ]


def test_an_empty_curve_has_no_alerts(curves):
    assert run_to_document(write(curves, "empty.csv", []))[1]["files"][0]["rows"] == 0


def test_a_name_of_a_file_gives_the_terminal_no_order(tmp_path):
    files = [
        write(tmp_path, f"{name}\x1b[2J.csv", rows, header)
        for name, rows, header in (
            ("calm", CALM, "step,loss,timestamp"),
            ("empty", [], "step,loss"),
            ("unknown", ["1,2"], "step,colour"),
            ("none", ["a"], "b"),
        )
    ]
    process = run(*files)
    assert process.output.count("calm") == 1 and "\x1b" not in process.output


def test_among_several_files_one_that_is_no_curve_is_left_out_aloud(curves):
    index = write(curves, "INDEX.csv", ["a,b"], "file,label")
    process = ran(curves / "calm.csv", index)

    assert (
        mentions(process.stderr, "INDEX.csv", "column") and "calm.csv: 100 rows" in process.stdout
    )


def test_among_several_files_json_lines_without_a_step_are_left_out_too(curves):
    logged_path = curves / "logged.jsonl"
    logged_path.write_text('{"loss": 1.0}\n')
    process = ran(curves / "calm.csv", logged_path)

    assert (
        mentions(process.stderr, "logged.jsonl", "JSON", "step") and ": left out" in process.stderr
    )
    assert "calm.csv: 100 rows" in process.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "norm\n1\n"),
        ("a.csv", "step,loss\n1,high\n"),
        ("a.csv", "step,loss\n1\n"),
    ],
)
def test_what_is_no_curve_is_wrong_use(tmp_path, name, text, notice):
    (tmp_path / name).write_text(text)

    with pytest.raises(WrongUse, match=name) as error:
        run(tmp_path / name)
    assert str(error.value) == notice


def test_figures_need_labels_and_labels_their_shape(curves):
    with pytest.raises(WrongUse, match=r"name.*--labels"):
        run(curves / "calm.csv", "--markdown")
    (curves / "bad.json").write_text('{"calm.csv": {"events": [[1]]}}')
    with pytest.raises(WrongUse, match=r"file.*labels"):
        run(curves / "calm.csv", "--labels", curves / "bad.json")


def test_a_loss_by_another_name_is_judged(curves):
    path = write(
        curves, "lost.csv", [*(f"{n},2.0" for n in range(200)), "200,nan"], "step,train/loss"
    )
    (curves / "labels.json").write_text(
        '{"lost.csv": {"shows": ["non-finite"], "events": [[200, 200]]}}'
    )

    assert ran(path).return_value == 1
    assert ran(path, "--labels", curves / "labels.json").return_value == 1


def test_a_curve_of_which_nothing_is_judged_is_not_calm(curves):
    odd = write(curves, "odd.csv", ["0,1", "1,nan"], "step,accuracy")
    process = ran(odd)

    assert process.return_value == 3
    assert mentions(process.stderr, "odd.csv", "rule")
    calm = curves / "calm.csv"
    text = write(curves, "text.csv", ["none"], "no columns")
    assert [ran(calm, *others).return_value for others in ((), (odd,), (text,))] == [0, 3, 3]


def test_json_lines_are_judged_as_the_tracker_reads_them(tmp_path):
    rows = [
        *({"step": i, "train/loss": 2.0} for i in range(100)),
        {"step": 100, "train/loss": float("nan")},
    ]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    process = run("--json", path)
    (outcome,) = json.loads(process.stdout)["files"]
    assert (outcome["rows"], [alert["check"] for alert in outcome["alerts"]]) == (
        101,
        ["not-finite"],
    )
    assert (process.return_value, outcome["alerts"][0]["row"]) == (1, 100)


@pytest.mark.parametrize(
    "text",
    [
        '{"loss": 1}\n',
        '{"step": 1, "loss": 2}\nxx\n',
    ],
)
def test_json_lines_that_are_no_curve_are_named_by_their_line(tmp_path, text, notice):
    (tmp_path / "a.jsonl").write_text(text)
    error = ran(tmp_path / "a.jsonl").exception
    assert isinstance(error, WrongUse) and str(error) == notice


@pytest.mark.parametrize(
    ("offset", "is_judged"), [(2.0, True), (-2.0, False)], ids=["above zero", "below zero"]
)
def test_a_loss_that_the_checks_cannot_compare_is_not_silently_free_of_alarms(
    tmp_path, offset, is_judged
):
    path = write(tmp_path, "loss.csv", [f"{i},{offset + i % 7 / 100},{i}" for i in range(300)])
    output, document = run(path), json.loads(run(path, "--json").stdout)
    (unjudged_curve,) = [curve["unjudged"] for curve in document["files"]]
    assert any("loss-spike" in each["checks"] for each in unjudged_curve) is not is_judged
    assert mentions(output.stderr, "loss-spike") is not is_judged


@pytest.mark.parametrize(
    "words", [["backtest"], ["compare", "loss.csv"]], ids=["backtest", "compare"]
)
def test_a_pipe_is_refused_before_a_byte_is_taken_from_it(tmp_path, words, capsys):
    """`herorun backtest <(zcat loss.csv.gz)`: what one reading takes, the next would miss."""
    write(tmp_path, "loss.csv", CALM)
    os.mkfifo(pipe := tmp_path / "pipe")
    assert cli.run(["-C", str(tmp_path), *words, str(pipe)]) == 2
    assert mentions(capsys.readouterr().err, str(pipe), "file first")
