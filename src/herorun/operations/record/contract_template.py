"""A new contract's text, with what `[tool.herorun.init]` says in the place of the template's
examples.

What is written there is read and signed by people like all else in the contract: it enters no plan
behind their back.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from herorun.adapter_declarations import init_kind
from herorun.core.contract import SLUG
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.toml_values import toml_value
from herorun.operations.record.script_search import CommandDraft, find_command
from herorun.runs import MAX_CONTRACT_BYTES, Run
from herorun.system.files import read_regular
from herorun.system.git import find_repository
from herorun.system.project_config import read_settings
from herorun.system.templates import template

FROM = "  # from [tool.herorun.init]"


@dataclass(frozen=True)
class ContractDraft:
    """The text of a new contract; `choices` say in words what of the repository it names."""

    text: str
    choices: tuple[str, ...]


def may_be_contract(path: Path) -> None:
    """`WrongUse` where no contract can be written, and none is."""
    if path.exists():
        return
    if not SLUG.fullmatch(path.stem):
        raise WrongUse(
            f"{path.stem!r} is no slug: use a-z, 0-9 and -, at most 48 characters, beginning "
            "with a letter or digit."
        )
    if path.is_symlink():
        raise WrongUse(f"{path} is a symbolic link that leads to no file: remove it first.")


def draft_of(start: Path, slug: str) -> ContractDraft:
    """For the repository around `start`, with its scripts and its own defaults."""
    command, settings = find_command(find_repository(start), slug), read_settings(start).init
    if settings.get("scheduler", command.scheduler) != command.scheduler:
        command = replace(command, scheduler="", request={})
    text = with_command(fill_template(template("run.toml"), settings), command)
    return ContractDraft(text.replace("$slug", slug), tuple(command.lines()))


def must_be_filled_in(run: Run, path: Path, draft: ContractDraft) -> None:
    """`WrongUse` for a contract that is still as `init` wrote it."""
    is_draft = read_regular(path, MAX_CONTRACT_BYTES).decode() == draft.text
    if is_draft and run.record.tip is None and run.file.committed is None:
        raise WrongUse(
            f"{path} is still as `herorun init` wrote it: fill it in, commit and push it first."
        )


def fill_template(text: str, settings: Mapping[str, str]) -> str:
    """The template with these settings, each marked with where it is from; `$slug` stays."""
    if "dri" in settings:
        text = _line(text, "", r"# dri = ", [("dri", settings["dri"])])
    if root := settings.get("output_root", "").rstrip("/"):
        text = _line(text, "output", r"root = ", [("root", f"{root}/$slug")])
        text = _line(
            text, "output", r"temporary_root = ", [("temporary_root", f"{root}/$slug-temporary")]
        )
    if "scheduler" in settings:
        text = _line(text, "scheduler", r"kind = ", [("kind", settings["scheduler"])])
    if tracker := _table(settings, "tracker", "trackers", "entity", "project"):
        text = _line(text, "tracker", r"kind = ", tracker)
        text = _line(text, "tracker", r"path = ", [])
    if issue := _table(settings, "issue", "notifiers", "repo"):
        text = _line(text, "issue", r"kind = ", issue)
    return text


def _table(settings: Mapping[str, str], name: str, port: str, *keys: str) -> list[tuple[str, str]]:
    """The table's kind, stated or as its keys stand for it, and these keys; empty without any."""
    stated_settings = [(key, settings[key]) for key in keys if key in settings]
    kind = settings.get(name) or (init_kind(port, settings) if stated_settings else "")
    return [("kind", kind), *stated_settings] if kind else []


def _line(
    text: str, table: str, prefix: str, pairs: Sequence[tuple[str, Any]], note: str = FROM
) -> str:
    """In place of the table's first line that begins so, these keys."""
    head = rf"\A(?:.*\n)*?\[{table}\].*\n(?:[^\[].*\n|\n)*?" if table else r"\A(?:[^\[].*\n|\n)*?"
    lines = "".join(f"{key} = {toml_value(value)}{note}\n" for key, value in pairs)
    return re.sub(rf"({head}){prefix}.*\n", lambda match: match[1] + lines, text, count=1)


def with_command(text: str, command: CommandDraft) -> str:
    """The template with the script and the config file that are there, or its examples."""
    if command.scripts:
        text = re.sub(
            r"(?m)^argv = .*$", lambda _: f"argv = {toml_value(command.argv)}", text, count=1
        )
        resume = toml_value([*command.argv, "--resume", "{start}"])
        text = re.sub(
            r"(?m)^# resume_argv = .*$", lambda _: f"# resume_argv = {resume}", text, count=1
        )
    else:
        text = _example(text, "argv", "no training script was found")
    if command.scheduler:
        note = f"  # from {_comment(command.scripts[0])}"
        request = {"kind": command.scheduler, **command.request}
        text = _line(text, "scheduler", r"kind = ", list(request.items()), note)
    if command.configs:
        files = f"files = {toml_value(command.configs[:1])}"
        return re.sub(r"(?m)^files = .*$", lambda _: files, text, count=1)
    return _example(text, "files", "no config file was found; [] if there is none")


def _comment(path: str) -> str:
    """A path as a comment can show it: git allows line breaks in names."""
    return path if path.isprintable() else json.dumps(path)


def _example(text: str, key: str, why: str) -> str:
    return re.sub(rf"(?m)^({key} = .*)$", rf"\1  # an example: {why}", text, count=1)
