"""The commands of a runbook: what to type, and what there is no need of.

`tests/screens/runbook.txt` shows the whole page.
"""

import re
from dataclasses import replace
from typing import Any

import pytest

from builders import a_contract
from herorun.core.patrol.advice import PatrolCommands
from herorun.core.remote.runbook import RunbookFacts, render_runbook
from wording import mentions

FACTS = RunbookFacts(
    top="/work",
    where="box1",
    login="",
    owner="ada@laptop",
    instances=(("tiny-1", "job-1", "02:00"),),
    sealed="",
    branch="herorun/tiny",
    remote="origin",
    written_at="12:00",
)
WAYS = PatrolCommands(
    resume="RESUME", chain="CHAIN", transfer=(("/data/set", "RSYNC"),), remove="REMOVE | it"
)
REMOVE = WAYS.remove
PATROL = "herorun -C /work box patrol tiny"
BABYSIT = "herorun -C /work handoff tiny --take --wait 31m && herorun -C /work babysit tiny"
WAIT = "herorun -C /work box wait tiny"
FETCH = "git -C /work fetch origin refs/heads/herorun/tiny:refs/herorun/record/tiny"
STAGE = {"folder": "/c", "stage": [{"name": "eval", "run": "make eval"}]}


def page(facts: RunbookFacts = FACTS, ways: PatrolCommands = WAYS, **tables: Any) -> str:
    return render_runbook(a_contract(**tables), ways, facts)


def commands(text: str) -> list[str]:
    return re.findall(r"\n```sh\n(.*?)\n```\n", text, re.DOTALL)


@pytest.mark.parametrize(
    ("changes", "typed_lines"),
    [
        ({}, [FETCH, PATROL, "RESUME", "RSYNC", BABYSIT, WAIT, REMOVE]),
        ({"sealed": "v1"}, [FETCH, PATROL, "RESUME", "RSYNC", REMOVE]),
        ({"instances": ()}, [PATROL, "RESUME", "RSYNC", WAIT, REMOVE]),
        ({"remote": ""}, [PATROL, "RESUME", "RSYNC", BABYSIT, WAIT, REMOVE]),
    ],
)
def test_only_what_there_is_to_do_is_typed(changes: dict[str, Any], typed_lines: list[str]) -> None:
    assert commands(page(replace(FACTS, **changes))) == typed_lines


def test_a_chain_is_copied_there_again_and_a_job_of_others_has_no_resume_command() -> None:
    chain_page = page(ways=replace(WAYS, resume="", transfer=()), chain=STAGE)
    assert commands(chain_page) == [FETCH, PATROL, BABYSIT, WAIT, "CHAIN", REMOVE]
    assert "\n1. `eval`: `make eval`\n" in chain_page


def test_its_own_resume_command_prints_no_next_one() -> None:
    printed_page, own = page(), page(patrol={"resume_command": "RESUME"})
    assert ("`next`" in printed_page, "`next`" in own) == (True, False)
    assert mentions(printed_page, "`to seal`", "DRI", "`unknown`")


def test_the_row_to_do_nothing_comes_last_because_a_reader_acts_on_the_first_match() -> None:
    table = page().partition("| status has |")[2].partition("\n\n")[0]
    states = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert "`down`" in states[-1] and any("`not running`" in state for state in states[:-1])


@pytest.mark.parametrize(
    ("tables", "signs"),
    [
        ({"patrol": {"markers": ["/d/DONE"]}}, ["marker `/d/DONE`"]),
        ({"chain": STAGE}, ["marker `/c/eval.DONE`"]),
        ({"patrol": {"results": ["/d/r.csv"]}}, ["result `/d/r.csv`"]),
        ({"patrol": {"success_pattern": "All done"}}, ["`All done`"]),
        ({"patrol": {"success_pattern": "All done", "log": "/d/log"}}, ["`/d/log`", "`All done`"]),
        ({"patrol": {"copies": {"/d/set": "set"}}}, ["`/d/set`", "`set`"]),
    ],
)
def test_each_declared_sign_is_listed(tables: dict[str, Any], signs: list[str]) -> None:
    """The scheduler's word is the sign of a run that declares none of its own, or only copies."""
    part = (
        page(**tables).partition("## The run is done")[2].partition("\n\n")[2].partition("\n\n")[0]
    )
    lines = [line for line in part.splitlines() if "scheduler" not in line]
    assert len(lines) == 1 and all(sign in lines[0] for sign in signs)
    assert ("the scheduler" in part) == ("copies" in tables.get("patrol", {}))


def test_a_run_without_a_goal_an_owner_or_an_end_says_so() -> None:
    text = page(goal=None, dri=None, stop_when=None)
    for line in ("- goal: none given", "sealed: no", "box1, scheduler `local`\n"):
        assert line in text
    full = page(
        replace(FACTS, login="ssh box1", sealed="v1"), goal="count", dri="ada", stop_when="it rises"
    )
    for line in ("- goal: count", "ada;", "it rises", "sealed: v1", "`ssh box1`\n"):
        assert line in full
    assert "- instance `tiny-1`: job `job-1`, submitted 02:00\n" in full


@pytest.mark.parametrize("sign", [{"after": "/d/DONE"}, {"after_pattern": "All done"}, {}])
def test_a_chain_that_waits_for_nothing_starts_only_after_the_training(sign: Any) -> None:
    text = page(chain={**STAGE, **sign}, patrol={"log": "/d/log"})
    (line,) = [line for line in text.splitlines() if line.startswith("It ") and "Once" in line]
    assert mentions(line, "job", "runs") is bool(sign)
    assert mentions(line, "training", "done") is not bool(sign)
