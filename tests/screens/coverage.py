"""Which values of the enumerations of `--json`, and which exit codes, have a screen.

`PYTHONPATH=src:tests python -m screens.coverage` prints those that have none.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from herorun.commands._families import load, visible
from herorun.core.gate_findings import FindingMark
from herorun.output.findings import MARKS
from herorun.schemas.documents import DOCUMENTS
from screens.rendering import Screen, render

States = dict[str, set[str]]  # `TYPE.field` -> values
SAME = {  # these rows are printed by the code that prints those documents
    "StatusOf": "status",
    "RunStatusEntry": "babysit",
    "babysit --job": "babysit",
}
PAGE = "on the page that `report` writes"
JSON_ALONE = "the screen has alerts in place of findings"
NOT_ON_A_SCREEN = {  # field, or one of its values -> why
    "IncidentEntry.severity": PAGE,
    "IncidentEntry.state": PAGE,
    "Kind": PAGE,
    "report.level": PAGE,
    "FindingEntry.gate: checkin": "the check-in of a job prints it into the job's log",
    "FindingEntry.response: refuse": "the check-in of a job prints it into the job's log",
    "FindingEntry.gate: health": JSON_ALONE,
    "FindingEntry.response: escalate": JSON_ALONE,
    "FindingEntry.response: relaunch": JSON_ALONE,
    "FindingEntry.response: stop": JSON_ALONE,
    "FiredEntry.severity: info": "no detector has a check of that severity",
    "RunHealth: healthy": "it is read of an ended job alone",
    "RunHealth: starting": "it is read of an ended job alone",
    "WatchedAlert.state: resolved": "only open alerts are shown",
    "CandidateEntry.state: unexamined": "the chosen checkpoint alone, if it has gone meanwhile",
}
NO_SCREEN = {  # exit code -> why
    ("logs", "130"): "Ctrl-C",
    ("watch", "130"): "Ctrl-C",
    ("mcp", "3"): "the extra is installed where the tests run",
}


def place_of(schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> tuple[Any, str]:
    """A schema that a document refers to has its own name, wherever it is used."""
    if "$ref" not in schema:
        return schema, at
    name = schema["$ref"].rpartition("/")[2]
    return root["$defs"][name], name


def collect_declared(
    schema: Any, root: Any, at: str, states: States, visited_names: set[str]
) -> None:
    """Collects the values that a document's fields may have."""
    schema, at = place_of(schema, root, at)
    if at in visited_names and "." not in at:
        return
    visited_names.add(at)
    if "enum" in schema:
        states.setdefault(at, set()).update(map(str, schema["enum"]))
    for part in (*schema.get("anyOf", ()), *filter(None, [schema.get("items")])):
        collect_declared(part, root, at, states, visited_names)
    for name, part in schema.get("properties", {}).items():
        collect_declared(part, root, f"{at}.{name}", states, visited_names)


def collect_values(value: Any, schema: Any, root: Any, at: str, states: States) -> None:
    """Collects the values that the fields of this document have."""
    schema, at = place_of(schema, root, at)
    if "enum" in schema and str(value) in map(str, schema["enum"]):
        states.setdefault(at, set()).add(str(value))
    for part in schema.get("anyOf", ()):
        collect_values(value, part, root, at, states)
    for each in value if isinstance(value, list) and "items" in schema else ():
        collect_values(each, schema["items"], root, at, states)
    for name, each in value.items() if isinstance(value, dict) else ():
        if name in schema.get("properties", {}):
            collect_values(each, schema["properties"][name], root, f"{at}.{name}", states)


def declared_states() -> States:
    states: States = {}
    for command in DOCUMENTS:
        schema = schema_of(command)
        collect_declared(schema, schema, command, states, set())
    return states


def document_of(argv: list[str]) -> str:
    """The key of `DOCUMENTS`; empty for a command without a document."""
    if "-f" in argv:  # a document for each part of the log
        return ""
    if argv[0] == "verify":
        return "verify TAG" if "/" in argv[1] else "verify RUN"
    names = sorted(DOCUMENTS, key=len, reverse=True)
    words = {name: name.split() for name in names}
    return next(
        (name for name in names if words[name][0] == argv[0] and set(words[name][1:]) <= set(argv)),
        "",
    )


@cache
def schema_of(document: str) -> Any:
    return DOCUMENTS[document].model_json_schema(by_alias=True)


def states_of(screen: Screen) -> States:
    """What the command's document says in this state, if it has one."""
    states: States = {}
    name = document_of(screen.argv.split())
    if not name:
        return states
    with tempfile.TemporaryDirectory() as home:
        text = render(replace(screen, argv=f"{screen.argv} --json"), Path(home))
    screen_output = text.partition("\n")[2].partition("--- standard error")[0]
    document = json.loads(screen_output.partition("--- exit code")[0])
    if "error" in document and "exit_code" in document:
        return states
    schema = schema_of(name)
    collect_values(document, schema, schema, name, states)
    return states


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for child in command.list_commands(context):
        yield from commands(f"{name} {child}", command.get_command(context, child) or command)


def every_command() -> Mapping[str, click.Command]:
    return dict(pair for name in visible() for pair in commands(name, load(name)))


def promised_codes() -> set[tuple[str, str]]:
    """The exit codes that the help of each command explains."""
    return {
        (name, code)
        for name, command in every_command().items()
        for text in re.findall(r"[Ee]xit code[^\b]*?\n\n", f"{command.help or ''}\n\n")
        for code in re.findall(r"\b(\d+)[:)]", text)
    }


def missing(documents: Iterable[States]) -> list[str]:
    """The values that have neither a screen nor an excuse, as `TYPE.field: value`."""
    return sorted(
        each
        for each in _without_screen(documents)
        if not {each, each.partition(":")[0]} & {*NOT_ON_A_SCREEN}
    )


def needless_excuses(documents: Iterable[States]) -> list[str]:
    """The excuses for values that have a screen, or that no document can have."""
    values = _without_screen(documents)
    return sorted({*NOT_ON_A_SCREEN} - values - {each.partition(":")[0] for each in values})


def _without_screen(documents: Iterable[States]) -> set[str]:
    covered_states: States = {}
    for states in documents:
        for at, values in states.items():
            covered_states.setdefault(_same(at), set()).update(values)
    return {
        f"{at}: {value or '(empty)'}"
        for at, values in declared_states().items()
        for value in values - covered_states.get(_same(at), set())
    }


def missing_marks(texts: Iterable[str]) -> list[str]:
    """The marks of findings that no screen shows."""
    lines = [line for text in texts for line in text.splitlines()]
    marks = {name: f"{sign} {word}" for name, (sign, word, _) in MARKS.items()}
    return [
        name
        for name in (*FindingMark, "lenient")
        if not any(line.startswith(f"{marks[name]} ") for line in lines)
    ]


def _same(at: str) -> str:
    name, dot, field = at.partition(".")
    return f"{SAME.get(name, name)}{dot}{field}"


if __name__ == "__main__":
    from screens.collection import all_screens

    print("\n".join(missing(map(states_of, all_screens()))))
