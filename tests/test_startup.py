"""What each command imports, and nothing else: start-up time is spent on imports, and is measured
by `make bench`.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from herorun import adapters
from herorun.cli import run
from herorun.commands import _families
from herorun.commands._families import BOX
from herorun.operations.launch.preflight import PreflightOutcome
from stories import SLUG, Story, git as run_git

# Each package with what it brings along.
CLICK = {"click"}
PYDANTIC = {
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
}
RICH = {"rich"}
TABLE = CLICK | RICH  # lays out a table
PAGE = {"jinja2", "markupsafe", "markdown_it", "mdurl"}  # writes the report
WRITES_SCHEMA = CLICK | PYDANTIC  # or meets what only pydantic tells: `herorun.core.lazy_pydantic`

COMMANDS = {
    "--version": CLICK,
    "--help": CLICK,
    "explain --list": CLICK,
    "explain dirty-tree": CLICK,
    "explain dirty-tree --json": CLICK,
    "schema": WRITES_SCHEMA,
    "completion bash": CLICK,
}
NOTE = "--status seen --evidence row --decision go-on --next look"
STORY = {  # in this order, as a run goes
    f"init {SLUG}": CLICK,
    f"preflight {SLUG}": CLICK,
    f"preflight {SLUG} --json": CLICK,
    f"launch {SLUG} --no-babysit": CLICK,
    f"status {SLUG}": CLICK,
    "status --all": TABLE,
    f"status {SLUG} --json": CLICK,
    f"watch {SLUG} --json": CLICK,
    f"report {SLUG} --json": WRITES_SCHEMA | PAGE,
    f"babysit {SLUG} --once": CLICK,
    f"babysit {SLUG} --once --json": CLICK,
    f"note {SLUG} {NOTE}": CLICK,
    f"seal {SLUG}": CLICK,
    f"seal {SLUG} --json": CLICK,
    f"logbook show {SLUG}": CLICK,
    f"verify {SLUG}": CLICK,
}
# The most modules of ours that a command may load, a few above what it loads now: each costs half a
# millisecond, on whatever machine.
MAX_MODULES = {
    "explain --list": 50,
    "explain dirty-tree": 46,
    f"preflight {SLUG}": 374,
    f"status {SLUG}": 406,
    f"babysit {SLUG} --once": 439,
}
# What markdown_it imports where somebody has installed it; we do not use it.
FOUND_BY_MARKDOWN = {"linkify_it", "uc_micro"}
STAND_IN = "pydantic.plugin._loader"  # ours, in its place: `herorun.system.entry_points`
PROBE = """
import sys
before = set(sys.modules)
{act}
with open(sys.argv[1], "w") as file:
    file.write("\\n".join(sorted(set(sys.modules) - before)))
"""
COMMAND = "from herorun.cli import run; code = run(sys.argv[2:]); assert code == 0, code"
UNKNOWN = COMMAND.replace("code == 0", "code == 3")
UNMEASURED_COMMANDS = {f"watch {SLUG} --json"}  # what no tick has seen yet is unknown


def imported_modules(act: str, path: Path, *words: str) -> set[str]:
    """The modules that a fresh process imports for an act."""
    argv = [sys.executable, "-c", PROBE.format(act=act), str(path), *words]
    process = subprocess.run(argv, cwd=path.parent, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, f"{words}: {process.stdout}{process.stderr}"
    return set(path.read_text().split())


def foreign(modules: set[str]) -> set[str]:
    """The top-level packages that are neither ours nor of the standard library."""
    tops = {module.partition(".")[0] for module in modules - {STAND_IN}}
    packages = tops - sys.stdlib_module_names - {"herorun"} - FOUND_BY_MARKDOWN
    return {name for name in packages if not name.startswith("_")}


def ours(modules: set[str]) -> set[str]:
    return {module for module in modules if module.partition(".")[0] == "herorun"}


@pytest.mark.thorough
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_outside_a_run_imports_what_it_uses(tmp_path: Path, words: str) -> None:
    modules = imported_modules(COMMAND, tmp_path / "modules", *words.split())
    assert foreign(modules) == COMMANDS[words]
    assert len(ours(modules)) <= MAX_MODULES.get(words, len(modules))


@pytest.mark.thorough
def test_a_gate_imports_the_adapters_and_the_checks_of_this_run_alone(
    story: Story, tmp_path: Path
) -> None:
    assert story.init() == 0
    words = ["-C", str(story.work), "preflight", SLUG, "--json"]
    modules = ours(imported_modules(COMMAND, tmp_path / "modules", *words))
    for port, kind in {"schedulers": "local", "trackers": "jsonl", "stores": "local"}.items():
        inside = {
            name.rpartition(".")[2] for name in modules if name.startswith(f"herorun.{port}.")
        }
        assert {name for name in inside if name in adapters.adapter_kinds(port)} == {kind}, port
    assert {name.split(".")[2] for name in modules if name.startswith("herorun.checks.")} == {
        "launch"
    }


@pytest.mark.thorough
@pytest.mark.parametrize("subject", ["dirty-tree", "--list"])
def test_explaining_a_check_imports_no_check(tmp_path: Path, subject: str) -> None:
    modules = ours(imported_modules(COMMAND, tmp_path / "modules", "explain", subject))
    checks = {name for name in modules if name.startswith("herorun.checks.")}
    assert not {name for name in checks if name.count(".") > 2}
    assert not {name for name in modules if name.startswith("herorun.schemas")}


@pytest.mark.thorough
def test_a_command_on_a_run_imports_what_it_uses(story: Story) -> None:
    fields, loaded_modules = {}, {}
    for words in STORY:
        modules_file = story.home / "modules"
        act = UNKNOWN if words in UNMEASURED_COMMANDS else COMMAND
        modules = imported_modules(act, modules_file, "-C", str(story.work), *words.split())
        fields[words], loaded_modules[words] = foreign(modules), len(ours(modules))
        if words.startswith("launch"):
            story.wait_for_end()

    assert fields == STORY
    assert {
        words: count
        for words, count in loaded_modules.items()
        if count > MAX_MODULES.get(words, count)
    } == {}


# Of processes of git; each costs about as much as ten modules. What git starts is extra.
# One of each asks the remote whether another clone added to the record.
MAX_GIT_CALLS = {"preflight": 8, "status": 3}


@pytest.mark.thorough
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("command", MAX_GIT_CALLS)
def test_a_command_starts_git_no_more_often_than_it_did(
    story: Story, command: str, is_packed: bool
) -> None:
    assert story.init() == 0
    if is_packed:
        run_git(story.work, "gc", "--quiet")
    programs, calls = story.home / "programs", story.home / "calls"
    programs.mkdir()
    git = programs / "git"
    git.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    argv = [sys.executable, "-m", "herorun", "-C", str(story.work), command, SLUG]
    path = f"{programs}:{os.environ['PATH']}"
    counts = []
    for _ in range(3):  # of which one may have asked again after a slow answer
        calls.unlink(missing_ok=True)
        subprocess.run(argv, env={**os.environ, "PATH": path}, check=True, timeout=300)
        lines = calls.read_text().splitlines()
        counts.append(len(lines))
        if len(counts) == 1 and 0 < counts[0] <= MAX_GIT_CALLS[command]:
            break
    assert 0 < sorted(counts)[len(counts) // 2] <= MAX_GIT_CALLS[command], (counts, lines)


@pytest.mark.thorough
def test_a_preflight_makes_its_document_once(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    assert story.init() == 0
    documents, build = [], PreflightOutcome.document
    monkeypatch.setattr(
        PreflightOutcome, "document", lambda self: documents.append(1) or build(self)
    )
    assert run(["-C", str(story.work), "preflight", SLUG]) == 0
    assert len(documents) == 1


def test_version_and_help_load_nothing_of_the_core(tmp_path: Path) -> None:
    parser = {"herorun", "herorun.cli", "herorun.commands"}
    assert ours(imported_modules(COMMAND, tmp_path / "modules", "--version")) == parser
    help_modules = ours(imported_modules(COMMAND, tmp_path / "modules", "--help"))
    assert help_modules == {*parser, "herorun.commands._families"}


@pytest.mark.parametrize("installed_help", ["with its text", "as bytecode alone"])
def test_the_help_says_of_a_command_what_its_module_says(
    monkeypatch: pytest.MonkeyPatch, installed_help: str
) -> None:
    if installed_help == "as bytecode alone":
        monkeypatch.setattr(_families, "_text_of", lambda name: "")
    lines = {name: _families.short_help(name, 80) for name in _families.visible()}
    assert lines == {name: _families.load(name).short_help for name in _families.visible()}


def test_every_commands_help_loads_nothing_of_the_core(tmp_path: Path) -> None:
    commands = Path(__file__).parents[1] / "src" / "herorun" / "commands"
    names = [
        f"box {stem}" if stem in BOX else stem.replace("_", "-")
        for stem in sorted(path.stem for path in commands.glob("*.py"))
        if not stem.startswith("_")
    ]
    script = (
        "from herorun.cli import run\nfor name in sys.argv[2:]:\n"
        "    assert run([*name.split(), '--help']) == 0, name"
    )
    modules = imported_modules(script, tmp_path / "modules", *names)
    assert len(names) > 9
    assert foreign(modules) == CLICK
    assert not {name for name in ours(modules) if name.startswith("herorun.core")}


def test_a_word_that_is_no_command_costs_no_more_than_the_help(tmp_path: Path) -> None:
    script = "from herorun.cli import run; assert run(['preflihgt']) == 2"
    assert foreign(imported_modules(script, tmp_path / "modules")) == CLICK


def test_the_library_imports_nothing_until_it_is_asked(tmp_path: Path) -> None:
    modules = imported_modules("import herorun", tmp_path / "modules")
    assert ours(modules) == {"herorun"}
    assert foreign(modules) == set()


def test_a_launch_does_not_load_the_babysitter(tmp_path: Path) -> None:
    modules = ours(
        imported_modules("import herorun.operations.launch.launch", tmp_path / "modules")
    )
    rooms = {name.split(".")[2] for name in modules if name.startswith("herorun.operations.")}
    assert rooms == {"launch", "health", "record"}


def test_the_detectors_and_the_kept_rows_are_loaded_where_there_is_a_row(tmp_path: Path) -> None:
    readers = "import herorun.sources.metrics, herorun.sources.source_loss"
    names = f"{readers}, herorun.operations.report.overview, herorun.operations.babysit.perform"
    modules = ours(imported_modules(names, tmp_path / "modules"))
    detectors = {name for name in modules if name.startswith("herorun.core.detectors.")}
    assert detectors == {"herorun.core.detectors.names"}
    assert not {name for name in modules if name.startswith("herorun.system.metrics_cache")}


def test_check_in_needs_the_standard_library_alone(tmp_path: Path) -> None:
    modules = imported_modules("import herorun; herorun.check_in()", tmp_path / "modules")
    admission = {
        f"herorun.core.admission{each}"
        for each in ("", ".comparison", ".devices", ".environment", ".hardware", ".items")
    }
    assert ours(modules) == {"herorun", "herorun.checkin", "herorun.core", *admission}
    assert foreign(modules) == set()
    assert not modules & {
        "subprocess",
        "socket",
        "asyncio",
        "urllib.request",
        "dataclasses",
        "inspect",
    }


def test_the_shapes_of_documents_are_built_when_they_are_used(tmp_path: Path) -> None:
    built_script = (
        "from herorun.schemas import DOCUMENTS\n"
        "assert not [kind for kind in DOCUMENTS.values() if kind.__pydantic_complete__]"
    )
    imported_modules(built_script, tmp_path / "modules")


def test_a_command_imports_the_documents_of_its_own_family(tmp_path: Path) -> None:
    modules = ours(
        imported_modules("import herorun.operations.launch.preflight", tmp_path / "modules")
    )
    schemas = {name for name in modules if name.startswith("herorun.schemas.")}
    assert schemas == {"herorun.schemas.parts"}


def test_the_tables_of_a_contract_are_built_when_one_is_read(tmp_path: Path) -> None:
    built_script = (
        "from herorun.core.contract import Contract\n"
        "kinds = [Contract, *(type(field.default) for field in Contract.model_fields.values())]\n"
        "assert [k for k in kinds if getattr(k, '__pydantic_complete__', False)] == []"
    )
    imported_modules(built_script, tmp_path / "modules")


LEAVING = """
import atexit, sys, threading, time
atexit.register(print, "last words")
{before}
from herorun.cli import main
sys.argv = ["herorun", "--version"]
main()
"""
LAST = 'lambda: (threading.main_thread().join(), print("a thread that somebody waits for"))'
WAITED_FOR = f"threading.Thread(target={LAST}).start()"


def remaining_modules(before: str = "") -> str:
    argv = [sys.executable, "-c", LEAVING.format(before=before)]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    return process.stdout


def test_a_command_that_lives_on_collects_its_garbage_as_python_does() -> None:
    code = (
        "import gc; from herorun import cli; usual = gc.get_threshold(); cli._collect_late(); "
        "assert gc.get_threshold()[0] == cli.SHORT; kept = [[] for _ in range(2 * cli.SHORT)]; "
        "assert gc.get_threshold() == usual and not gc.callbacks"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_last_words_of_a_library_are_heard() -> None:
    """We leave without taking the modules apart; what registered for the end still runs."""
    assert remaining_modules().splitlines()[-1] == "last words"


def test_a_thread_that_is_not_a_daemon_is_waited_for() -> None:
    assert remaining_modules(WAITED_FOR).splitlines()[-2:] == [
        "a thread that somebody waits for",
        "last words",
    ]
    daemon = WAITED_FOR.replace("threading.Thread", "t = threading.Thread").replace(
        ".start()", "; t.daemon = True; t.start()"
    )
    assert remaining_modules(daemon).splitlines()[-1] == "last words"


def test_what_profiles_a_command_has_its_own_last_words() -> None:
    argv = [sys.executable, "-m", "cProfile", "-m", "herorun", "--version"]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert "function calls" in process.stdout


def test_an_interrupted_import_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os; os.kill(os.getpid(), 2)\n")
    argv = [sys.executable, "-m", "herorun", "--version"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    process = subprocess.run(argv, env=environment, capture_output=True, timeout=60, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGINT, b"", b"")
