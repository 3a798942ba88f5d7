"""Files of curves, as trainers and trackers write them."""

import json

import pytest

from herorun.core.errors import WrongUse
from herorun.operations.report.curve_file import columns_of, names_of, rows_of

EXPORT = """"Step","calm-lake-7 - train/loss","calm-lake-7 - train/loss__MIN"
"10","2.5","2.5"
"20","2.25","2.25"
"30","NaN","NaN"
"""
PLAIN = "step,loss,lr\n10,2.5,0.001\n20,2.25,0.001\n30,nan,0.001\n"


def read(tmp_path, text, name="curve.csv"):
    path = tmp_path / name
    path.write_text(text, newline="")
    names = names_of(columns_of(path))
    rows = list(rows_of(path))
    return [row.step for row in rows], [names.loss_of(row.values) for row in rows]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "|"),
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        "# " + PLAIN,
        PLAIN.replace(",", ";").replace(".", ","),
        'lr,"loss",step\n"0.001","2.5",10\n0.001,2.250,20.0\n1e-3,NaN,3e1\n',
        "iteration,train_loss\n10,2.5\n20,2.25\n30,nan\n",
        "global_step,train/loss,eval/loss\n10,2.5,\n20,2.25,3\n30,nan,\n",
        EXPORT,
        "iter,Loss/train,note\n10,2.5,warm\n20,2.25,-\n30,nan,\n",
        "step,loss\n10,2.5\n20,2.25\nstep,loss\n30,nan\n\n",
    ],
)  # fmt: skip
def test_the_same_curve_in_other_dialects(tmp_path, text):
    steps, losses = read(tmp_path, text)

    assert steps == [10, 20, 30] and losses[:2] == [2.5, 2.25] and losses[2] != losses[2]


def test_thousands_may_have_commas_and_a_missing_value_a_word(tmp_path):
    steps, losses = read(tmp_path, 'step,loss\n"1,000",N/A\n"1,250","12,345.5"\n"2,000",None\n')

    assert (steps, losses) == ([1000, 1250, 2000], [None, 12345.5, None])


def test_rows_without_a_step_count_themselves(tmp_path):
    """An epoch may be a fraction."""
    steps, losses = read(tmp_path, "epoch,accuracy,loss,val_loss\n0.01,0.1,2.5,3\n0.02,0.2,2,3\n")

    assert (steps, losses) == ([0, 1], [2.5, 2.0])


def test_a_word_in_a_column_that_is_judged_is_no_row(tmp_path):
    with pytest.raises(WrongUse, match=r"curve.csv:3: '20,high'"):
        read(tmp_path, "step,loss\n10,2.5\n20,high\n")


def test_the_state_of_a_hugging_face_trainer(tmp_path):
    history = [
        {"loss": 2.5, "learning_rate": 1e-4, "epoch": 0.1, "step": 10},
        {"eval_loss": 2.4, "eval_runtime": 3.0, "step": 10},
        {"loss": 2.25, "learning_rate": 1e-4, "epoch": 0.2, "step": 20},
        {"train_loss": 2.4, "train_runtime": 60.0, "step": 20},
    ]
    document = {"best_metric": None, "log_history": history}
    for text in (json.dumps(document, indent=2), json.dumps(document)):
        assert read(tmp_path, text, "trainer_state.json") == ([10, 20], [2.5, 2.25])


def test_another_json_document_is_no_curve(tmp_path, notice):
    path = tmp_path / "config.json"
    path.write_text('{\n  "a": 1\n}')

    with pytest.raises(WrongUse, match="config") as error:
        list(rows_of(path))
    assert str(error.value) == notice
