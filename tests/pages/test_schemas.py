"""What the commands print with `--json` is what docs/json.md and `herorun.schemas` say, key by
key.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from commands.answers import ask
from herorun.cli import herorun
from herorun.core.lazy_pydantic import BaseModel
from herorun.core.proposed_commands import in_folder
from herorun.operations.checkpoints.prune import Pruned
from herorun.operations.orders.order import OrderOutcome
from herorun.schemas import DOCUMENTS, FailureDocument
from stories import TAG, Story

# The story of a run: each command, and the document that it prints. `!` stands before one that ends
# with 1, `?` before one that asks the machine, and may end with 3.
COMMANDS_BY_SCHEMA = """
init: init tiny
preflight: preflight tiny
launch: launch tiny --no-babysit
note: note tiny --status a --evidence b --decision c --next d
ack: pause tiny --until 2h --reason why
status: status tiny
resume: resume tiny
babysit: babysit tiny --once
status: status tiny
status --all: status --all
watch: watch --all
report: report tiny
list: list
logs: logs tiny
doctor: ?doctor tiny
completion: completion bash
babysit --all: babysit --all --once
rollback: rollback tiny --to 2 --reason why --dry-run
fork: fork tiny tiny-2 --from 2 --reason why
handoff: handoff tiny --take
goodput: goodput tiny
compare: compare tiny-1 tiny-1 --gate 'loss mean <= 1%'
replay: replay tiny
checkpoints list: checkpoints list tiny
checkpoints plan: checkpoints plan tiny --keep 1
logbook show: logbook show tiny
verify RUN: verify tiny
explain: explain contract-drift
explain --list: explain --list
waive: waive dirty-tree tiny
box patrol: box patrol tiny
box wait: box wait tiny
box runbook: box runbook tiny --out -
box timer: box timer tiny
box watchers: box watchers
box watchdog: box watchdog tiny
jobs list: jobs list --session s
jobs watch: jobs watch --once --session s
jobs find: jobs find --session s
jobs add: jobs add local {job} --no-watch --session s
jobs remove: jobs remove {job} --session s
backtest: !backtest curve.csv
triage: !triage job.log
seal: seal tiny
verify TAG: verify {tag}
status: status tiny
"""
# What no healthy run prints, made of the very types that the commands print.
ORDERS = ("ack", "approve", "deny", "pause", "stop", "relaunch")
ELSEWHERE = {
    "demo": "tests/demo tells the demo",
    "box chain": "not every contract has one",
    "trust": "a plain contract needs none",
    "babysit --job": "tests/operations/jobs prints it",
}


def unknown_keys(document: Any, model: BaseModel) -> Iterator[str]:
    """The keys that the schema does not know, and those of the schema that the document lacks."""
    yield from differing(document, json.loads(model.model_dump_json(by_alias=True)), "")


def differing(values: Any, names: Any, where: str) -> Iterator[str]:
    match values, names:
        case dict(), dict():
            yield from (f"{where}.{key}" for key in values.keys() - names.keys())
            for key in values.keys() & names.keys():
                yield from differing(values[key], names[key], f"{where}.{key}")
        case list(), list():
            for number, (one, other) in enumerate(zip(values, names, strict=True)):
                yield from differing(one, other, f"{where}[{number}]")


def must_fit(name: str, document: Any) -> None:
    model = DOCUMENTS[name].model_validate(document)
    assert list(unknown_keys(document, model)) == [], name


@pytest.mark.thorough
def test_every_document_of_a_run_has_its_schema(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(story.home / "state"))
    monkeypatch.chdir(story.work)
    rows = [f"{step},{2.5 if step < 80 else 'nan'}\n" for step in range(99)]
    (story.data / "curve.csv").write_text("step,loss\n" + "".join(rows))
    (story.data / "job.log").write_text("torch.cuda.OutOfMemoryError: CUDA out of memory.\n")
    for line in COMMANDS_BY_SCHEMA.strip().splitlines():
        name, _, command = line.partition(": ")
        words = command.format(tag=TAG, job=story.jobs / "tiny-1").lstrip("!?")
        words = words.replace("curve.csv", f"{story.data}/curve.csv").replace(
            "job.log", f"{story.data}/job.log"
        )
        capsys.readouterr()
        code = story.herorun(*shlex.split(words), "--json")
        output = capsys.readouterr()
        assert code == int("!" in command) or ("?" in command and code == 3), (line, output)
        must_fit(name, json.loads(output.out))
        if name == "launch":
            story.wait_for_end()
            job = str(story.jobs / "tiny-1")
            assert story.herorun("jobs", "add", "local", job, "--no-watch", "--session", "s") == 0


def test_an_order_and_a_clean_up_have_their_schemas(story: Story) -> None:
    for name in ORDERS:
        must_fit(name, OrderOutcome(story.run, "said", 0, ("a warning",)).document().as_json())
    must_fit("checkpoints prune", Pruned(("a",), (("b", "why"),), 3).document().as_json())


def test_what_is_to_be_trusted_has_its_schema(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(story, capsys, "trust", "tiny", "--json")
    assert answer.code == 0
    must_fit("trust", answer.document)


def test_what_is_written_for_a_box_has_its_schema(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = {"name": "eval", "run": "python eval.py"}
    story.sign(chain={"folder": "/data/chain", "stage": [stage]})
    for name, words in (
        ("box chain", ("tiny",)),
        ("box chain", ("tiny", "--out", "chain.sh")),
        ("box timer", ("tiny", "--for", "cron")),
        ("box timer", ("tiny", "--for", "actions")),
        ("box runbook", ("tiny",)),
    ):
        answer = ask(story, capsys, *name.split(), *words, "--json")
        assert (answer.code, answer.err) == (0, "")
        must_fit(name, answer.document)
        file = answer.document.get("file")
        assert file is None or Path(file).read_text() in answer.document.values()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("status nowhere", 2),
        ("preflight tiny --nonsense", 2),
        ("backtest {data}/missing.csv", 2),
        ("report tiny --out {work}/runs/tiny.toml/page.html", 3),
    ],
)
def test_what_could_not_be_done_is_reported_in_a_document_too(
    story: Story, capsys: pytest.CaptureFixture[str], words: str, code: int
) -> None:
    capsys.readouterr()
    assert story.herorun(*words.format(data=story.data, work=story.work).split(), "--json") == code
    output = capsys.readouterr()
    failure_document = FailureDocument.model_validate_json(output.out)
    assert failure_document.exit_code == code
    assert output.err == f"herorun: {in_folder(failure_document.error, str(story.work))}\n"


def test_without_json_nothing_is_reported_on_standard_output(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story.herorun("status", "nowhere") == 2
    assert capsys.readouterr().out == ""


def printing(command: click.Command, name: str = "") -> Iterator[str]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            subcommand = command.get_command(context, child)
            assert subcommand is not None
            if not subcommand.hidden:
                yield from printing(subcommand, f"{name} {child}".strip())
    elif any("--json" in parameter.opts for parameter in command.params):
        yield name


def all_commands() -> set[str]:
    top = click.Context(herorun)
    names = herorun.list_commands(top)
    return {
        printed_document
        for name in names
        for printed_document in printing(herorun.get_command(top, name) or herorun, name)
    }


def test_every_command_with_json_has_a_schema_and_a_test_of_it() -> None:
    assert all_commands() - {"schema"} == {re.split(" --| [A-Z]", name)[0] for name in DOCUMENTS}
    partitions = {line.partition(": ")[0] for line in COMMANDS_BY_SCHEMA.strip().splitlines()}
    assert partitions | {*ORDERS, "checkpoints prune", *ELSEWHERE} == set(DOCUMENTS)


def test_a_key_that_no_schema_knows_is_noticed() -> None:
    with pytest.raises(AssertionError, match="note"):
        must_fit(
            "note",
            {
                "schema": 1,
                "slug": "a",
                "commit": "b",
                "pushed": True,
                "queued": False,
                "warning": "",
                "new": 1,
            },
        )


def test_a_missing_key_is_noticed() -> None:
    with pytest.raises(ValueError, match="warning"):
        must_fit("note", {"schema": 1, "slug": "a", "commit": "b", "pushed": True, "queued": False})


def test_the_page_tells_every_document() -> None:
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    assert [name for name in DOCUMENTS if f"`herorun {name}" not in page] == []
