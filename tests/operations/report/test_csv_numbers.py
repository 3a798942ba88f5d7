"""Numbers in CSV: read right or refused, never read as another number."""

import pytest

from herorun.core.errors import WrongUse
from herorun.operations.report.backtest import backtest
from herorun.operations.report.curve_file import columns_of, names_of, rows_of
from wording import mentions


def read(tmp_path, text, name="curve.csv"):
    path = tmp_path / name
    path.write_text(text, newline="")
    names = names_of(columns_of(path))
    return [(row.step, names.loss_of(row.values)) for row in rows_of(path)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("step;loss\n1;2,345\n2;2,5\n", [(1, 2.345), (2, 2.5)]),
        ("step;loss\n1;0,345\n2;1,340\n", [(1, 0.345), (2, 1.34)]),
        ("step;loss\n1.000;2,5\n2.000;1.234,5\n", [(1000, 2.5), (2000, 1234.5)]),
        ('step,loss\n1,"2,5"\n2,"2,345"\n', [(1, 2.5), (2, 2.345)]),
        ("step\tloss\n1,000\t2.345\n2,000\t2.5\n", [(1000, 2.345), (2000, 2.5)]),
        ('step,loss,note\n1,2.5,"0,1"\n', [(1, 2.5)]),  # devices, in a column that no rule judges
        ("step;accuracy;loss\n1;0,5;2\n2;0,25;1\n", [(1, 2.0), (2, 1.0)]),
        ("step,loss,\n1,2.5,\n", [(1, 2.5)]),
        ("step,loss\n1,2.5,\n", [(1, 2.5)]),
    ],
)
def test_a_comma_is_read_as_the_file_writes_numbers(tmp_path, text, rows):
    assert read(tmp_path, text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "step;loss\n1;2,345\n2;2,340\n",
        "step\tloss\n1,000\t2\n",
        'step,loss\n1,"1,234.5"\n2,"2,5"\n',
        "step;loss;lr\n1;2,5;0.001\n",
        "step,loss,lr\n1,234,2.5,0.1\n",
        "step,loss\n1,2,5\n",
        "step,loss,loss\n1,2.5,3.5\n",
        "step,step,loss\n1,2,3.5\n",
        'Step,"a - train/loss","b - train/loss"\n1,2.5,nan\n',
        "step,loss\n0.5,2.5\n",
        "step,loss\n1e300,2.5\n",
        "1;2,5\n2;2,4\n",
        "",
    ],
)
def test_what_could_be_another_number_is_refused(tmp_path, text, notice):
    with pytest.raises(WrongUse) as error:
        read(tmp_path, text)
    assert str(error.value) == notice


@pytest.mark.parametrize(
    "text",
    [
        'step,loss,note\n1,2.5,"cut\n2,nan,\n',
        "step,loss\r1,2.5\r",
        "x" * 200_000 + ",step,loss\n1,2,3\n",
    ],
)
def test_what_the_csv_module_refuses_names_the_file(tmp_path, text):
    with pytest.raises(WrongUse, match=r"curve\.csv .*CSV: "):
        read(tmp_path, text)


def test_a_line_that_is_too_long_is_refused_before_it_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr("herorun.operations.report.curve_file.MAX_LINE", 1000)
    with pytest.raises(WrongUse, match=r"line .*longer than"):
        read(tmp_path, f"step,loss\n1,2.5\n2,{'3' * 2000}\n")


def test_a_file_of_a_header_alone_is_not_called_calm(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("step,loss\n")
    (unjudged_curve,) = backtest([path], None).unjudged
    assert mentions(unjudged_curve, f"{path}", "no rows")


CURVE = [f"{2.5 + 0.001 * (step % 7):.4f}" for step in range(300)]
NOT_FINITE = [*CURVE[:250], "nan", *CURVE[251:]]
SPIKE = [*CURVE[:250], *["9.7512"] * 20, *CURVE[270:]]
FORMATS = {
    "commas": lambda step, loss: f"{step},{loss}",
    "quotes": lambda step, loss: f'"{step}","{loss}"',
    "semicolons": lambda step, loss: f"{step};{loss}",
    "tabs": lambda step, loss: f"{step}\t{loss}",
    "european": lambda step, loss: f"{step};{loss.replace('.', ',')}",
    "thousands": lambda step, loss: f"{step + 1000:,};{loss}" if step != "step" else f"{step};loss",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("losses", "check"), [(NOT_FINITE, "not-finite"), (SPIKE, "loss-spike")])
def test_every_format_shows_the_fault(tmp_path, form, losses, check):
    line, path = FORMATS[form], tmp_path / "curve.csv"
    path.write_text(
        "\n".join([line("step", "loss"), *(line(n, each) for n, each in enumerate(losses))])
    )
    ((_, rows, alerts),) = backtest([path], None).files
    assert rows == 300 and [(each.check, each.row >= 250) for each in alerts][:1] == [(check, True)]


def test_the_last_json_line_counts_without_its_end_if_it_is_whole(tmp_path):
    lines = '{"step":1,"loss":2.5}\n{"step":2,"loss":2.25}'
    assert read(tmp_path, lines, "curve.jsonl") == [(1, 2.5), (2, 2.25)]
    assert read(tmp_path, lines[:-3], "curve.jsonl") == [(1, 2.5)]
    assert read(tmp_path, '{"step":1,"loss":2.5}', "curve.jsonl") == [(1, 2.5)]


def test_json_may_begin_with_a_byte_order_mark(tmp_path):
    lines = '\ufeff{"step":1,"loss":2.5}\n{"step":2,"loss":2.25}\n'
    assert read(tmp_path, lines, "curve.jsonl") == [(1, 2.5), (2, 2.25)]
