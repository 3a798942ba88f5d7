"""The picture of DESIGN, held by import-linter and ruff; and each of their rules bites."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args, get_overloads, get_type_hints

import pytest

from herorun import adapters
from herorun.core.ports import Place
from pinned_wording import nodes_of

TOP = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
TOOL_SETTINGS = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]
CONTRACTS = [contract["id"] for contract in TOOL_SETTINGS["importlinter"]["contracts"]]
BANNED_APIS = sorted(TOOL_SETTINGS["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])

# What breaks each contract: lines, by the file that each is added to, and what of it import-linter
# must name.
VIOLATIONS = {
    "one-way": [
        (
            "core/babysit/alert.py",
            "import herorun.system.clock",
            "core.babysit.alert -> herorun.system.clock",
        ),
        (
            "system/git/discover.py",
            "import herorun.record",
            "system.git.discover -> herorun.record",
        ),
        (
            "sources/jobs.py",
            "import herorun.schedulers.local",
            "sources.jobs -> herorun.schedulers.local",
        ),
        (
            "trackers/jsonl.py",
            "import herorun.stores.local",
            "trackers.jsonl -> herorun.stores.local",
        ),
        ("gather.py", "import herorun.discover", "gather -> herorun.discover"),
        (
            "operations/launch/preflight.py",
            "import herorun.output",
            "operations.launch.preflight -> herorun.output",
        ),
    ],
    "rooms": [
        (
            "operations/launch/launch.py",
            "import herorun.operations.babysit.loop",
            "launch.launch -> ",
        ),
        (
            "operations/record/post.py",
            "def f():\n    import herorun.operations.seal.tag",
            "record.post -> ",
        ),
        ("operations/seal/seal.py", "import herorun.operations.orders.note", "seal.seal -> "),
    ],
    "one-way, and nothing beside it": [("new_module.py", "import json", "new_module")],
    "by-name": [
        ("runs/run.py", "import herorun.schedulers.local", "runs.run -> herorun.schedulers.local"),
        (
            "commands/status.py",
            "def f():\n    import herorun.sources.jobs",
            "status -> herorun.sources.jobs",
        ),
    ],
    "pure": [
        (
            "core/detectors/pipeline.py",
            "from time import monotonic",
            "core.detectors.pipeline -> time",
        ),
        ("core/deeper.py", "def f():\n    from os import environ", "core.deeper -> os"),
        ("checks/launch/dirty_tree.py", "import pathlib", "dirty_tree -> pathlib"),
        ("checks/health/crashed.py", "from urllib.request import urlopen", "crashed -> urllib"),
    ],
    "checks-know-core-only": [
        (
            "checks/seal/open_alerts.py",
            "import herorun.system.files",
            "open_alerts -> herorun.system.files",
        ),
    ],
    "light-in-the-job": [
        (
            "checkin.py",
            "import herorun.core.canonical_json",
            "checkin -> herorun.core.canonical_json",
        ),
        ("checkin.py", "def f():\n    import pydantic", "checkin -> pydantic"),
        (
            "core/admission/items.py",
            "import herorun.core.errors",
            "admission.items -> herorun.core.errors",
        ),
    ],
    "one-way-out": [
        (
            "sources/published_commit.py",
            "import subprocess",
            "sources.published_commit -> subprocess",
        ),
        ("commands/init.py", "def f():\n    import socket", "commands.init -> socket"),
    ],
}
IMPURE = [
    "from datetime import datetime\nx = datetime.now()",
    "import datetime as dt\nx = dt.datetime.now(dt.UTC)",
    "from datetime import date\nx = date.today()",
    "import time",
    "def f():\n    from os import environ",
    "x = open('somewhere')",
    "print('here')",
    "import random",
]
AVOIDED_WORDS = ("manager", "handler", "helper", "util", "context", "force", "override")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package and its rules."""
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    shutil.copytree(TOP / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules, and of the package only what a test writes."""
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    return tmp_path


def spoil(top: Path, name: str, line: str) -> None:
    path = top / "src" / "herorun" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def lint_imports(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the package in a folder."""
    argv = [BIN / "lint-imports", "--no-cache", "--no-logo", *options]
    env = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"}
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def ruff(folder: Path, *paths: str) -> str:
    """What ruff says under the rules for purity."""
    argv = [BIN / "ruff", "check", "--no-cache", "--quiet", "--select", "TID251,PTH123,T20", *paths]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.thorough
def test_every_contract_holds() -> None:
    process = lint_imports(TOP)
    assert process.returncode == 0 and f"{len(CONTRACTS)} kept, 0 broken" in process.stdout, (
        process.stdout
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", VIOLATIONS)
def test_every_contract_bites(package: Path, name: str) -> None:
    for where, line, _ in VIOLATIONS[name]:
        spoil(package, where, line)
    process = lint_imports(package, "--contract", name.partition(",")[0])
    assert process.returncode == 1
    assert [result for _, _, result in VIOLATIONS[name] if result not in process.stdout] == [], (
        process.stdout
    )


def test_no_contract_is_left_out() -> None:
    assert {name.partition(",")[0] for name in VIOLATIONS} == set(CONTRACTS)


@pytest.mark.parametrize(
    "where", ["core/babysit/policy.py", "core/deeper.py", "checks/launch/dirty_tree.py"]
)
@pytest.mark.parametrize("line", IMPURE)
def test_the_clock_the_disk_and_chance_are_banned_where_it_is_judged(
    rules: Path, where: str, line: str
) -> None:
    spoil(rules, where, line)
    assert where in ruff(rules, "src")


@pytest.mark.parametrize("name", BANNED_APIS)
def test_every_ban_bites(rules: Path, name: str) -> None:
    module, _, rest = name.partition(".")
    kind, _, call = rest.rpartition(".")
    line = f"from {module} import {kind}\nx = {kind}.{call}()" if rest else f"import {module}"
    spoil(rules, "core/babysit/policy.py", line)
    assert f"`{name}` is banned" in ruff(rules, "src/herorun/core/babysit/policy.py")


def test_the_rest_may_do_what_is_banned_there(rules: Path) -> None:
    spoil(
        rules,
        "system/clock.py",
        "\n".join(f"import {name}" for name in BANNED_APIS if "." not in name),
    )
    assert ruff(rules, "src") == ""


def test_no_module_is_named_for_nothing() -> None:
    words = re.compile("|".join(rf"(?:^|_){word}s?(?:$|_)" for word in AVOIDED_WORDS))
    folders = ("src", "tests", "benchmarks", "docs", "templates")
    modules = [path for folder in folders for path in (TOP / folder).rglob("*.py")]
    text = {
        path: path.relative_to(TOP).with_suffix("").as_posix().replace("/", "_") for path in modules
    }
    assert len(modules) > 100
    assert [path for path, name in text.items() if words.search(name)] == []


@pytest.mark.parametrize("port", adapters.ADAPTERS)
def test_every_connect_is_typed_by_its_port(port: str) -> None:
    """mypy then holds each adapter against the Protocol that it is used by."""
    kinds = adapters.adapter_kinds(port)
    assert kinds
    for kind in kinds:
        module = import_module(f"herorun.{port}.{kind}")
        hints = get_type_hints(module.connect)
        assert adapters.PORTS[port] in hints["return"].__mro__, (port, kind)
        assert (hints["options"], hints["place"]) == (module.Options, Place), (port, kind)


def test_connect_returns_the_protocol_of_its_port() -> None:
    hints = [get_type_hints(overload) for overload in get_overloads(adapters.connect)]
    returned_types = {get_args(hint["port"]): hint["return"] for hint in hints}
    assert returned_types.pop(()) is object
    assert {port: protocol for (port,), protocol in returned_types.items()} == adapters.PORTS


# Checks and adapters are read by these names: each has its own.
READ_BY_NAME = {"Limits", "Options", "connect", "command"}


@dataclass(frozen=True)
class Source:
    """What the rules below ask about a module; its tree is not kept."""

    classes: list[str]
    functions: set[str]  # of the module itself
    participles: list[tuple[str, bool]]  # name, whether it is a field
    states: set[str]  # methods, properties and constants that are bare participles
    superlatives: list[str]  # constants of the module that are called MOST or the like
    constants: dict[str, object]
    comparisons: list[ast.Compare]
    positional: list[str]  # calls and definitions with too many values in order


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def sources() -> dict[str, Source]:
    """Each module, parsed once for all rules."""
    folder = TOP / "src" / "herorun"
    return {
        path.relative_to(folder).as_posix(): _source(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.py")
    }


def _source(text: str) -> Source:
    tree = ast.parse(text)
    nodes = nodes_of(tree)
    return Source(
        classes=[node.name for node in nodes if isinstance(node, ast.ClassDef)],
        functions={node.name for node in tree.body if isinstance(node, FUNCTIONS)},
        participles=list(_participles(tree)) if any(map(_is_participle, nodes)) else [],
        states=set(_states(nodes, tree)),
        superlatives=_superlatives(text),
        constants=_constants(tree),
        comparisons=[node for node in nodes if isinstance(node, ast.Compare)],
        positional=list(_positional(nodes)),
    )


def test_a_class_name_is_used_once_and_a_functions_in_three_modules_at_most() -> None:
    classes: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for source in sources().values():
        classes.update(source.classes)
        functions.update(source.functions)
    assert len(classes) > 500
    assert {n for n, many in classes.items() if many > 1} - READ_BY_NAME == set()
    over = {n: many for n, many in functions.items() if many > 3 and n not in READ_BY_NAME}
    assert over == {}, "name what each does: a verb with its object"


# A bare participle says that something happened, and not what the name holds. No variable and no
# parameter is one: judged by its form, so that there is no list to be completed.
_IRREGULAR = """
anew begun bent bought born bound broken brought built burnt caught chosen dealt done drawn driven
dug eaten fallen fed felt fled flown forbidden forgiven forgotten fought found frozen given gone
gotten grown heard held hidden hurt kept known laid led left lent lit lost made meant met mistaken
overridden overwritten paid proven put rebuilt redone resent retold ridden risen rung said sat seen
sent shaken shown shut slept sold sought spent split spoken sprung spun stolen stood struck stuck
sung sunk swept sworn taken taught thought thrown told torn undone understood unread unseen unsent
untold unwritten upset withdrawn withheld woken won worn woven written
"""
IRREGULAR = set(_IRREGULAR.split())
NOUNS = {
    "feed",
    "need",
    "seed",
    "speed",
    "split",  # of a data set
}
# Users type these as keywords.
KEYWORDS = {
    "checkin.py": {"loaded", "required"},  # check_in(loaded=..., required=...)
    "core/lazy_dataclass.py": {"frozen"},  # dataclass(frozen=True), as in the standard library
}
# A field is read behind its object: `job.ended` says what ended. These words would still not say
# what they hold, so a field is one of them only where its name stands in the journal, in a cache or
# in a JSON document.
_STAND_INS = """
anew asked begun chosen drawn found given gone grown heard held kept known left listed looked lost
made named noted read said seen sent shown spent taken told wanted written
"""
STAND_INS = set(_STAND_INS.split())
FIELDS_ON_RECORD = {
    "core/babysit/alert.py": {"seen", "held"},
    "core/event/launch.py": {"written"},
    "core/event/tick.py": {"anew"},
    "core/evidence/base.py": {"asked"},
    "core/evidence/reports.py": {"lost", "seen"},
    "core/evidence/monitoring.py": {"held", "lost"},
    "core/recovery/classify.py": {"seen"},
}


@cache
def is_participle(name: str) -> bool:
    word = name.strip("_")
    return word not in NOUNS and (
        word in IRREGULAR or re.fullmatch(r"[a-z]{2,}ed", word) is not None
    )


def _participles(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names below a node that are bare participles, and whether each is a field."""
    parents = [(tree, False)]
    while parents:
        parent, in_class = parents.pop()
        for node in ast.iter_child_nodes(parent):
            if _is_participle(node):
                yield _named_by(node), in_class
            is_statement = isinstance(node, ast.AnnAssign | ast.Assign)
            parents.append((node, isinstance(node, ast.ClassDef) or (in_class and is_statement)))


def _is_participle(node: ast.AST) -> bool:
    return is_participle(_named_by(node))


def _named_by(node: ast.AST) -> str:
    """The variable or the parameter that a node binds."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.Attribute):
        is_private = isinstance(node.ctx, ast.Store) and node.attr.startswith("_")
        return node.attr if is_private else ""
    if isinstance(node, ast.arg):
        return node.arg
    return node.name or "" if isinstance(node, ast.ExceptHandler) else ""


def test_no_variable_is_a_bare_participle() -> None:
    wrong = []
    fields: dict[str, set[str]] = {}
    for name, source in sources().items():
        for participle, is_field in source.participles:
            if is_field and participle.strip("_") in STAND_INS:
                fields.setdefault(name, set()).add(participle)
            elif not is_field and participle not in KEYWORDS.get(name, ()):
                wrong.append(f"{name}: {participle}")
    assert wrong == [], "name the thing that it holds"
    assert fields == FIELDS_ON_RECORD, "name the thing that it holds, where it is not on record"


VERBS = {"put"}  # in the present too
# A function is a verb with its object. These are called by third parties, or named by a rule.
PARTICIPLES_BY_CONTRACT = {
    "checks/health/crashed.py": {"crashed"},  # a check is a function of its own name
    "core/finding.py": {"failed", "passed"},  # the results that every check returns
}


def test_no_function_is_a_bare_participle() -> None:
    participles = {
        name: {f for f in source.functions if is_participle(f) and f.strip("_") not in VERBS}
        for name, source in sources().items()
    }
    assert {k: v for k, v in participles.items() if v} == PARTICIPLES_BY_CONTRACT, (
        "name what it returns or does: a verb with its object"
    )


# Members that third parties write, read or declare keep their names, and those that a JSON document
# has a field of.
_LAYOUTS = {"Layout", "NamedLayout", "Lightning"}
STATES_BY_CONTRACT = {
    "changed": {"JobStatus"},  # a field of `jobs watch --json`
    "unjudged": {"CurveBacktest"},  # a field of `backtest --json`
    "listed": _LAYOUTS | {"ListsJobs", "KubernetesById", "NelById", "SlurmById"},
    "examined": _LAYOUTS,
    "dated": _LAYOUTS,
    "modified": {"Store", "RoutedStore", "ObjectStore", "OverSsh", "LocalStore"},
    "reused": {"ByIdAbilities", "ExternalJobs", "LocalById", "SshById"},
}


def _states(nodes: Iterable[ast.AST], tree: ast.Module) -> Iterator[str]:
    """`Class.method`, and constants of a module or a class. The members of an enum are states
    whose words are stored, and `RENAMED` is what options and checks declare.
    """
    bodies = [("", tree.body)]
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (
                f"{node.name}.{each.name}"
                for each in node.body
                if isinstance(each, FUNCTIONS)
                and is_participle(each.name)
                and each.name.strip("_") not in VERBS
                and node.name not in STATES_BY_CONTRACT.get(each.name, ())
            )
            if not any("Enum" in ast.unparse(base) for base in node.bases):
                bodies.append((f"{node.name}.", node.body))
    yield from (
        f"{prefix}{name.id}"
        for prefix, body in bodies
        for statement in body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        if name.id.isupper() and name.id != "RENAMED" and is_participle(name.id.lower())
    )


def test_no_constant_and_no_method_is_a_bare_participle() -> None:
    states = {name: source.states for name, source in sources().items() if source.states}
    assert states == {}, "name the thing that it holds, or what it returns"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("KEPT = 5", {"KEPT"}),
        ("_SAID: set[str] = set()", {"_SAID"}),
        ("LOW, SEEN = 1, 2", {"SEEN"}),
        ("class A:\n    def ended(self): ...", {"A.ended"}),
        ("class A:\n    HELD: ClassVar = 3", {"A.HELD"}),
        ("class Store:\n    def modified(self): ...\n    def put(self): ...", set()),
        ("class A(StrEnum):\n    FAILED = 'failed'", set()),
        ("class A:\n    RENAMED: ClassVar = {}", set()),
        ("MAX_KEPT = 5", set()),
    ],
)
def test_a_constant_or_a_method_that_is_a_participle_is_noticed(
    text: str, states: set[str]
) -> None:
    tree = ast.parse(text)
    assert set(_states(ast.walk(tree), tree)) == states


_WORDS_OF_LIMITS = """
MOST LEAST LARGEST SMALLEST LONGEST SHORTEST DEEPEST FEWEST WIDEST NARROWEST SLOWEST FASTEST HIGHEST
LOWEST EARLIEST LATEST NEWEST OLDEST YOUNGEST
"""
_SUPERLATIVES = set(_WORDS_OF_LIMITS.split())
_CONSTANTS = re.compile(r"^([A-Z_][A-Z0-9_]*(?:, [A-Z_][A-Z0-9_]*)*)(?:: [^=]+)? = ", re.MULTILINE)


def _superlatives(text: str) -> list[str]:
    """Constants of a module."""
    names = [name for group in _CONSTANTS.findall(text) for name in group.split(", ")]
    return [name for name in names if _SUPERLATIVES & set(name.split("_"))]


def test_a_limit_is_named_by_the_words_of_the_field() -> None:
    names = {name: source.superlatives for name, source in sources().items()}
    assert {name: limits for name, limits in names.items() if limits} == {}, "MAX_ROWS, MIN_LENGTH"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("MOST = 5\n", ["MOST"]),
        ("LEAST, _LARGEST_PLAN = 1, 2\n", ["LEAST", "_LARGEST_PLAN"]),
        ("_LONGEST: Final[int] = 3\n", ["_LONGEST"]),
        ("MAX_ROWS = 5\nDIGEST = 1\nif x == MOST: ...\n", []),
    ],
)
def test_a_limit_by_another_word_is_noticed(text: str, names: list[str]) -> None:
    assert _superlatives(text) == names


@pytest.mark.parametrize("name", ["speed", "run", "ended_at", "is_stored", "red"])
def test_a_noun_is_no_bare_participle(name: str) -> None:
    assert not is_participle(name)


# In the tests, the benchmarks, the scripts of the docs and the templates nothing is named by a bare
# participle: no variable, parameter, function, method, alias, field, nor attribute of `self`. To
# parse all of them takes five times as long as to search them for what looks like one.
OTHER_FOLDERS = ("tests", "benchmarks", "docs", "templates")
_WORDS = "|".join(sorted(IRREGULAR)) + "|[a-z]{2,}ed"
_BEFORE_IT = re.compile(
    r"(?:\b(?:for|as|def|lambda|if|while) |[(\[*{]|[,=:] |    |^|\bself\.)_*\Z", re.MULTILINE
)
_WITH_WHAT_FOLLOWS = re.compile(
    rf"(?<![a-z])(?i:{_WORDS})_*(?: :|[,:()\]]| ?[-+*/|&^%@<>]*=(?!=)| in\b|\n| if\b)"
)
# A port or a contract's base has these members, and the tests implement it.
MEMBERS_BY_CONTRACT = {*STATES_BY_CONTRACT, "RENAMED"}


def _may_bind(text: str) -> bool:
    return any(
        _BEFORE_IT.search(text, max(0, match.start() - 9), match.start())
        for match in _WITH_WHAT_FOLLOWS.finditer(text)
    )


def _names_of_any_kind(text: str) -> list[str]:
    """All bare participles that a module binds, in code as `ruff format` leaves it."""
    if not _may_bind(text):
        return []
    nodes = nodes_of(ast.parse(text))
    exempt = {id(each) for node in nodes for each in _exempt_below(node)}
    return [
        name
        for node in nodes
        if id(node) not in exempt
        if is_participle((name := _bound_by(node)).lower()) and not _is_of_others(name)
    ]


def _is_of_others(name: str) -> bool:
    """Verbs in the present, and the names of classes."""
    return name.strip("_") in VERBS or not (name.islower() or name.isupper())


def _exempt_below(node: ast.AST) -> Iterator[ast.AST]:
    """The words of an enum, which are states, and members that a contract names."""
    if isinstance(node, ast.ClassDef):
        is_enum = any("Enum" in ast.unparse(base) for base in node.bases)
        for statement in node.body:
            if isinstance(statement, FUNCTIONS) and statement.name in MEMBERS_BY_CONTRACT:
                yield statement
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                yield from (
                    each
                    for each in ast.walk(statement)
                    if is_enum or getattr(each, "id", "") in MEMBERS_BY_CONTRACT
                )


def _bound_by(node: ast.AST) -> str:
    if isinstance(node, FUNCTIONS):
        return node.name
    if isinstance(node, ast.alias):
        return node.asname or ""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        return node.attr if isinstance(node.ctx, ast.Store) else ""
    return "" if isinstance(node, ast.Attribute) else _named_by(node)


def test_no_name_outside_the_package_is_a_bare_participle() -> None:
    wrong = [
        f"{path.relative_to(TOP)}: {name}"
        for folder in OTHER_FOLDERS
        for path in sorted((TOP / folder).rglob("*.py"))
        for name in _names_of_any_kind(path.read_text(encoding="utf-8"))
    ]
    assert wrong == [], "name the thing that it holds, or what it does: a verb with its object"


@pytest.mark.parametrize(
    "line",
    [
        "told = 1",
        "told: int = 1",
        "told += 1",
        "one, told = 1, 2",
        "one = told = 1",
        "for told in (): ...",
        "for one, told in (): ...",
        "[told for told in ()]",
        "def f(told): ...",
        "def f(*told, **done): ...",
        "def f(one, told=1): ...",
        "lambda told: 1",
        "if told := 1: ...",
        "with f() as told: ...",
        "try: ...\nexcept OSError as told: ...",
        "def f(self):\n    self._told = 1",
        "def f(self):\n    self.told = 1",
        "def f():\n    _told = 1",
        "def told(): ...",
        "def f():\n    def _told(self): ...",
        "class A:\n    async def told(self): ...",
        "class A:\n    told: int",
        "class A:\n    told = 1",
        "TOLD = 1",
        "_TOLD: int = 1",
        "import a as told",
        "from a import b as told",
        "from a import b as told, c",
    ],
)
def test_a_bare_participle_is_found_wherever_it_is_bound(line: str) -> None:
    for word in ("told", "admitted"):
        text = line.replace("told", word).replace("TOLD", word.upper()) + "\n"
        assert {name.strip("_").lower() for name in _names_of_any_kind(text)} >= {word}


@pytest.mark.parametrize(
    "line",
    [
        "f(told=1)",
        "job.told = 1",
        "told",
        "{'told': 1}",
        "told_at = is_told = 1",
        "from a import told",
        "class A(StrEnum):\n    TOLD = 'told'",
        "class A:\n    def modified(self): ...",
        "class A:\n    RENAMED = {}",
        "def put(): ...",
        "Told = dict[str, int]",
    ],
)
def test_what_others_named_is_no_name_of_ours(line: str) -> None:
    assert _names_of_any_kind(f"{line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "def f(told): ...",
        "found = 1",
        "for seen in (): ...",
        "def f(self): self._kept = 1",
        "lambda said: 1",
        "[left for left in ()]",
        "def f(admitted): ...",
        "try: ...\nexcept OSError as refused: ...",
    ],
)
def test_a_bare_participle_of_the_package_is_found(line: str) -> None:
    assert [is_field for _, is_field in _participles(ast.parse(line))] == [False]
    assert [is_field for _, is_field in _participles(ast.parse("class A:\n    told: int"))] == [
        True
    ]


# What only one adapter knows stays in it: outside the adapters nothing compares a kind with the
# name of one. What differs is an attribute of the adapter (`core.ports.adapter`), an optional
# member of its port, or in `JOBS`. The exception names no behaviour of an adapter:
NAMING_RULE = {
    "core/seal/render.py": 1,  # the label in tags of versions that did not state it
}


def _named_kinds(node: ast.Compare, kinds: set[str], constants: dict[str, object]) -> set[str]:
    """The adapters' names that a comparison of a `kind` names, itself or by a constant."""
    sides = [node.left, *node.comparators]
    of_kind = any(getattr(side, "attr", getattr(side, "id", "")) == "kind" for side in sides)
    parts = [part for side in sides for part in ast.walk(side)]
    texts: set[object] = {n.value for n in parts if isinstance(n, ast.Constant)}
    texts |= {constants.get(n.id) for n in parts if isinstance(n, ast.Name)}
    return {str(text) for text in texts if text in kinds} if of_kind else set()


def _constants(tree: ast.Module) -> dict[str, object]:
    """The texts that names of the module stand for."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_nothing_outside_the_adapters_branches_on_one_of_them() -> None:
    kinds = {kind for port in adapters.ADAPTERS for kind in adapters.adapter_kinds(port)}
    branches: Counter[str] = Counter()
    for name, source in sources().items():
        if name.startswith(("schedulers/", "trackers/", "stores/", "notifiers/")):
            continue
        for node in source.comparisons:
            branches[name] += len(_named_kinds(node, kinds, source.constants))
    assert +branches == NAMING_RULE, "make it a method or a declared capability of the adapter"


# Nobody reads seven values in order: a longer call names them, and a longer signature demands it.
MAX_POSITIONAL = 6
# These are called by what reads their annotations or options, and by nobody else.
_CALLED_BY_ANNOTATION = re.compile(r"check\(.+\)|click\.command\b.*|\w+\.command\b.*", re.DOTALL)


def _positional(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and len(node.args) > MAX_POSITIONAL:
            yield f"call {ast.unparse(node.func)} in line {node.lineno}"
        elif isinstance(node, FUNCTIONS) and _positional_parameters(node) > MAX_POSITIONAL:
            yield f"function {node.name}: put a `*` in it"
        elif isinstance(node, ast.ClassDef) and _positional_fields(node) > MAX_POSITIONAL:
            yield f"dataclass {node.name}: make it `kw_only`"


def _positional_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    if node.name.startswith("read_") or any(map(_CALLED_BY_ANNOTATION.fullmatch, decorators)):
        return 0
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _positional_fields(node: ast.ClassDef) -> int:
    """Those of a dataclass that may be given in order."""
    decorators = [
        text for each in node.decorator_list if "dataclass" in (text := ast.unparse(each))
    ]
    if not decorators or "kw_only=True" in decorators[0]:
        return 0
    kinds = [ast.unparse(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)]
    position = kinds.index("KW_ONLY") if "KW_ONLY" in kinds else len(kinds)
    return sum("ClassVar" not in kind for kind in kinds[:position])


def test_no_more_than_six_values_are_given_in_order() -> None:
    texts = dict(sources())
    for folder in ("templates", "checkin"):
        for path in (TOP / folder).rglob("*.py"):
            texts[str(path.relative_to(TOP))] = _source(path.read_text(encoding="utf-8"))
    wrong = {name: source.positional for name, source in texts.items() if source.positional}
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f(1, 2, 3, 4, 5, 6, 7)", 1),
        ("f(1, 2, 3, 4, 5, 6, g=7)", 0),
        ("def f(a, b, c, d, e, f, g): ...", 1),
        ("def f(a, b, c, d, e, f, *, g): ...", 0),
        ("def read_f(a, b, c, d, e, f, g): ...", 0),
        ("@check(Gate.LAUNCH)\ndef f(a, b, c, d, e, f, g): ...", 0),
        ("@cache\ndef f(a, b, c, d, e, f, g): ...", 1),
        ("class A:\n def f(self, a, b, c, d, e, f): ...", 0),
        ("@dataclass\nclass A: " + "; ".join(f"a{n}: int" for n in range(7)), 1),
        ("@dataclass\nclass A: " + "; ".join(f"a{n}: int" for n in range(6)), 0),
        ("@dataclass(kw_only=True)\nclass A: " + "; ".join(f"a{n}: int" for n in range(7)), 0),
        (
            "@dataclass\nclass A: a: int; _: KW_ONLY; " + "; ".join(f"a{n}: int" for n in range(6)),
            0,
        ),
    ],
)
def test_values_in_order_are_counted(text: str, count: int) -> None:
    assert len(list(_positional(nodes_of(ast.parse(text))))) == count


def test_what_to_do_with_an_internal_error_is_written_once() -> None:
    package = TOP / "src" / "herorun"
    holders = [path for path in package.rglob("*.py") if "HERORUN_DEBUG" in path.read_text("utf-8")]
    assert holders == [package / "core" / "errors.py"]
