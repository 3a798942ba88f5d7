"""The one command that deletes a machine: its exact words, and which machine it is about."""

import json
from datetime import timedelta

import pytest

from builders import MINUTE, NOON
from herorun.core.canonical_json import timestamp
from herorun.core.recovery.bad_node import delete_command, list_command, machine_at

TPU = ["gcloud", "compute", "tpus", "tpu-vm"]


def machine(name="projects/p/locations/z/nodes/bad", inside="10.0.0.7", outside="", made_at=NOON):
    access = {"accessConfig": {"externalIp": outside}} if outside else {}
    points = [{"ipAddress": inside, **access}]
    return {"name": name, "createTime": timestamp(made_at), "networkEndpoints": points}


def at(*machines, worker="10.0.0.7", end_time=NOON):
    return machine_at(json.dumps(machines), worker, end_time)


def test_the_commands_word_by_word():
    assert [*list_command("z")] == [*TPU, "list", "--zone", "z", "--format=json"]
    assert [*delete_command("bad", "z")] == [*TPU, "delete", "bad", "--zone", "z", "--quiet"]


def test_the_machine_by_either_address():
    other = machine("other", inside="10.0.0.8", outside="34.1.1.2")
    assert at(other, machine()) == "bad"
    assert at(other, machine(outside="34.1.1.1"), worker="34.1.1.1") == "bad"
    assert at(other, machine(), worker="34.9.9.9") is None
    assert at() is None


@pytest.mark.parametrize(
    ("made_at", "name"), [(-MINUTE, "bad"), (timedelta(), "bad"), (MINUTE, None)]
)
def test_a_machine_that_was_made_after_the_end_is_another_one(made_at, name):
    assert at(machine(made_at=NOON + made_at)) == name


@pytest.mark.parametrize(
    "machines",
    [
        [machine(), machine("projects/p/locations/z/nodes/worse")],  # which of the two?
        [{**machine(), "name": ""}],
        [{**machine(), "name": None}],
        [{**machine(), "createTime": None}],
        [{**machine(), "createTime": "yesterday"}],
    ],
)
def test_where_it_is_not_sure_which_machine_it_is_none_is_named(machines):
    with pytest.raises(ValueError, match=r"."):
        at(*machines)


def test_an_answer_of_another_shape_is_no_list_and_odd_entries_have_no_address():
    with pytest.raises(ValueError, match="list"):
        machine_at("{}", "10.0.0.7", NOON)
    assert at("odd", {"networkEndpoints": ["odd"]}, machine()) == "bad"
