"""What the pages say is true: links lead somewhere, commands and flags exist, what is printed by
the code is fresh.
"""

import ast
import html
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from herorun import discover, job_kinds
from herorun.cli import herorun
from herorun.core.agent_tools import ORDERS, READS
from herorun.demo.sandbox import SLUG
from wording import mentions

TOP = Path(__file__).parents[1]
GENERATED_PAGES = (
    "docs/checks.md",
    "docs/cli.md",
    "docs/contract.md",
    "docs/json.md",
    "docs/library.md",
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<(?:img|a)[^>]*?(?:src|href)=\"([^\"]+)\"")
SPAN = re.compile(r"`(herorun [^`\n]+)`")
REGISTRIES = [
    "pypi.",
    "pythonhosted.",
    "npmjs.",
    "anaconda.",
    "crates.",
    "rubygems.",
    "proxy.golang.",
]


def files(*patterns: str) -> list[Path]:
    """What is tracked, or would be: the records of our own runs apart, which nobody edits."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    output = subprocess.run(argv, cwd=TOP, capture_output=True, timeout=60, check=True).stdout
    names = sorted(set(os.fsdecode(output).split("\0")) - {""})
    return [
        TOP / name for name in names if not name.startswith(".agents/") and (TOP / name).is_file()
    ]


def name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


PAGES = files("*.md")
WRITTEN_PAGES = [
    page for page in PAGES if name(page) not in (*GENERATED_PAGES, "docs/benchmarks.md")
]
CHECKS = discover.checks()


# --- the picture ----------------------------------------------------------------------------------


def test_the_picture_says_what_the_checks_say_today() -> None:
    """`python docs/picture.py` draws it again."""
    picture = (TOP / "docs" / "preflight-blocked.svg").read_text(encoding="utf-8")
    drawn_text = "".join(
        html.unescape(text).replace("\xa0", " ")
        for text in re.findall(r">([^<>]*)</text>", picture)
    )
    output = " ".join(drawn_text.split())
    rows = [check for check in CHECKS if f"✗ fail {check.name} " in output]
    assert {check.name for check in rows} >= {"dirty-tree", "start-checkpoint-not-newest"}
    fixes = {check.name: " ".join(check.next_action(SLUG).split()) for check in rows}
    assert [name for name, fix in fixes.items() if fix not in output] == []
    assert "repeat: herorun preflight tiny-lm" in output


# --- links ----------------------------------------------------------------------------------------


def links(page: Path) -> Iterator[str]:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for match in LINK.finditer(re.sub(r"`[^`]*`", "", prose)):
        target = match[1] or match[2]
        if "://" not in target and not target.startswith("mailto:"):
            yield target


def anchors(page: Path) -> set[str]:
    """The headings as GitHub links to them: of those with one name, the later ones are numbered."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    names = [
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    ]
    return {f"{name}-{names[:at].count(name)}".removesuffix("-0") for at, name in enumerate(names)}


def leads_nowhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / path if path else page
    return not there.exists() or (bool(anchor) and anchor not in anchors(there))


def test_every_link_leads_somewhere() -> None:
    dead = [
        (page, target) for page in PAGES for target in links(page) if leads_nowhere(page, target)
    ]
    assert dead == []


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One heading\n[a](page.md#one-heading) [b](gone.md) ![c](#two) `[d](e)`\n")
    assert [target for target in links(page) if leads_nowhere(page, target)] == ["gone.md", "#two"]


def test_of_two_headings_with_one_name_the_second_is_numbered(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n# One\n[a](#one) [b](#one-1) [c](#one-2)\n")
    assert [target for target in links(page) if leads_nowhere(page, target)] == ["#one-2"]


# --- commands -------------------------------------------------------------------------------------


def command_lines(text: str) -> Iterator[str]:
    """Every `herorun ...` in code, in a line or in a block."""
    yield from (match[1] for match in SPAN.finditer(FENCE.sub("", text)))
    for block in FENCE.finditer(text):
        for line in block[2].replace("\\\n", " ").splitlines():
            yield from (
                part.strip()
                for part in re.split(r"&&|;|\||^\s*\$ ", line)
                if part.strip().startswith("herorun ")
            )


def wrong_words(line: str, *, earlier: bool = False) -> list[str]:
    """The command or the flags in it that do not exist, or that have a newer name."""
    try:
        words = shlex.split(re.sub(r" -C \S+", "", line), comments=True)[1:]
    except ValueError:  # the half of a sentence
        words = line.split()[1:]
    command: click.Command = herorun
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    texts = {"--help", "-h", "--version"} | options(command)
    for word in (word for word in words if not word.startswith("-")):
        if not isinstance(command, click.Group):
            break
        if word.isupper() or word.startswith("["):
            return []  # COMMAND, [OPTIONS]
        context = click.Context(command)
        subcommand = command.get_command(context, word)
        if subcommand is None:
            return [word]
        if not earlier and (subcommand.hidden or word not in command.list_commands(context)):
            return [word]
        command = subcommand
        texts |= options(command)
    return [flag for flag in flags if flag not in texts]


def options(command: click.Command) -> set[str]:
    return {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}


def test_every_command_that_a_page_names_exists() -> None:
    wrong = {
        (name(page), line): words
        for page in PAGES
        for line in command_lines(page.read_text(encoding="utf-8"))
        if (words := wrong_words(line, earlier=page.name == "CHANGELOG.md"))
    }
    assert wrong == {}


def test_every_command_that_the_code_names_exists() -> None:
    """The fixes in messages, and the pages of checks."""
    texts = [path.read_text(encoding="utf-8") for path in files("src/*.py", "templates/*")]
    lines = {match[1] for text in texts for match in SPAN.finditer(text)}
    assert len(lines) > 20
    assert {line: wrong_words(line) for line in lines if wrong_words(line)} == {}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("herorun preflight grug --out plan.json", []),
        ("herorun -C ~/grug verify grug", []),
        ("herorun prefligth grug", ["prefligth"]),
        ("herorun preflight grug --force", ["--force"]),
        ("herorun logbook mend grug", ["mend"]),
        ("herorun box patrol grug", []),
        ("herorun patrol grug", ["patrol"]),  # an earlier name, which nothing proposes
        ("herorun logbook verify grug", ["verify"]),
    ],
)
def test_a_wrong_command_is_noticed(line: str, wrong: list[str]) -> None:
    assert wrong_words(line) == wrong


PLACEHOLDERS = {"STEP": "100", "TYPE": "slurm", "ID": "4711", "USER@MACHINE": "dri@box"}
# What an agent is not told to type, with the reason.
NO_AGENT = {
    "approve": "a person's",
    "deny": "a person's",
    "trust": "a person's",
    "backtest": "judges the checks, not a run",
    "replay": "judges the checks, not a run",
    "demo": "for people",
    "completion": "for a shell",
    "metrics": "for Prometheus",
    "serve": "for people's browsers",
    "mcp": "what the agent's own client starts",
    "schema": "for an editor",
    "box chain": "a person sets a box up",
    "box timer": "a person sets a machine up",
    "box watchdog": "for another machine",
}


def verbs(group: click.Group = herorun) -> set[str]:
    """Every command of the first level, and those of `box`."""
    context = click.Context(group)
    box = group.get_command(context, "box")
    assert isinstance(box, click.Group)
    box_commands = {f"box {name}" for name in box.list_commands(click.Context(box))}
    return {*group.list_commands(context), *box_commands} - {"box"}


def verb_of(line: str) -> str:
    words = line.split()[1:]
    return " ".join(words[:2]) if words[0] == "box" else words[0]


def skill_lines() -> list[str]:
    """The commands that stand in the tables."""
    text = (TOP / "templates" / "SKILL.md").read_text(encoding="utf-8")
    return [
        match[1] for row in text.splitlines() if row.startswith("|") for match in SPAN.finditer(row)
    ]


@pytest.mark.parametrize("line", skill_lines())
def test_an_agent_can_type_what_the_skill_says(line: str) -> None:
    """Every argument and option that is demanded is there, and of its kind."""
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line)[1:]]
    group: click.Command = herorun
    while isinstance(group, click.Group):
        command = group.get_command(click.Context(group), words.pop(0))
        assert command is not None, line
        group = command
    group.make_context("herorun", words)


def test_the_skill_has_every_verb_that_is_for_an_agent() -> None:
    skill_verbs = {verb_of(line) for line in skill_lines()} | {"box runbook"}
    assert skill_verbs | set(NO_AGENT) == verbs()
    assert not skill_verbs & set(NO_AGENT)


def test_the_skill_has_every_tool_and_order() -> None:
    text = (TOP / "templates" / "SKILL.md").read_text(encoding="utf-8")
    _, _, partition = text.partition("## With the tools of `herorun mcp`")
    for tool in (*READS, *ORDERS):
        assert f"`{tool.name}`" in partition, tool.name


def test_the_skill_names_every_kind_of_job() -> None:
    text = (TOP / "templates" / "SKILL.md").read_text(encoding="utf-8")
    kinds = re.findall(r"TYPE is ([a-z, ]+)", text)
    assert [re.split(", | or ", each.strip()) for each in kinds] == [list(job_kinds.kinds())]


def test_the_readme_names_the_commands_that_everybody_needs() -> None:
    text = (TOP / "README.md").read_text(encoding="utf-8")
    for words in (
        "make demo",
        "make test",
        "herorun init",
        "herorun preflight",
        "herorun launch",
        "herorun seal",
    ):
        assert words in text


# --- code in pages --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_in_pages_can_be_read(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        match language:
            case "python":
                ast.parse(code)
            case "toml":
                tomllib.loads(code)


def test_a_line_holds_one_sentence() -> None:
    lines = [
        (name(page), line)
        for page in WRITTEN_PAGES
        for line in FENCE.sub("", page.read_text(encoding="utf-8")).splitlines()
        if not line.startswith("|")
    ]
    assert [each for each in lines if re.search(r"[a-z`)]\. [A-Z`]", each[1])] == []


# --- what is printed by the code ------------------------------------------------------------------


def generate(folder: Path, *words: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "200"}
    argv = [sys.executable, str(folder / "generate.py"), *words]
    return subprocess.run(argv, cwd=TOP, env=env, capture_output=True, text=True, timeout=300)


def test_the_printed_pages_are_fresh() -> None:
    process = generate(TOP / "docs", "--check")
    assert process.returncode == 0, process.stderr


@pytest.mark.thorough
def test_a_stale_page_is_named_and_printed_alike_by_every_process(tmp_path: Path) -> None:
    docs, tests = tmp_path / "docs", tmp_path / "tests"
    docs.mkdir()
    tests.mkdir()
    for part in (TOP / "docs").glob("*.py"):
        shutil.copy(part, docs)
    shutil.copy(TOP / "tests" / "surviving_mutants.txt", tests)
    assert generate(docs).returncode == 0
    (docs / "cli.md").write_text("old")
    process = generate(docs, "--check", seed="1")  # it would name the pages that differ, too
    assert process.returncode == 1
    assert len(process.stderr.splitlines()) == 1
    assert mentions(process.stderr, "docs/cli.md", "stale", "make docs", "commit")


def test_every_check_has_a_page_and_a_test() -> None:
    checks_page = (TOP / "docs" / "checks.md").read_text(encoding="utf-8")
    for check in CHECKS:
        test = f"{check.gate}/test_{check.name.replace('-', '_')}.py"
        assert check.why and check.fix, check.name
        assert f"\n### {check.name}\n" in checks_page
        assert (TOP / "tests" / "checks" / test).is_file(), test


# --- the whole tree -------------------------------------------------------------------------------


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(
        "|".join(re.escape(part) + r"(?:org|com|io|net)\b" for part in REGISTRIES).encode()
    )
    assert hosts.search(b"https://" + b"pypi" + b".org/simple")
    assert [name(path) for path in files() if hosts.search(path.read_bytes())] == []
