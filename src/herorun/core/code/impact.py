"""Whether a changed file can change the training: ordered globs, first match wins.

The contract's `[code] impact` is asked first, then the shipped preset; what neither names blocks.
`core.code.globs` says how a glob is written.
"""

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import dirname

from herorun.core.code.globs import compile_globs
from herorun.core.contract import Contract, ContractFile, Impact
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import ImportClosure, Nothing, Unavailable, WorkTree

_SIBLING_FOLDERS = ("tests/",)
_BUILD_INPUTS = (  # what is installed and built, wherever it lies but for tests and documentation
    *("*.lock", "*lock.json", "*lock.yaml", "*lock.yml"),
    *("pyproject.toml", "setup.py", "setup.cfg", "Pipfile"),
    *("*requirements*.txt", "*requirements*.in", "environment*.yml", "environment*.yaml"),
    *(
        "Dockerfile",
        "Dockerfile.*",
        "*.Dockerfile",
        "*.dockerfile",
        "Containerfile",
        "Containerfile.*",
    ),
    *("docker-compose*.yml", "docker-compose*.yaml", ".dockerignore", "*.def"),
)
_TEXT = (
    *("*.md", "*.markdown", "*.rst", "*.adoc", "*.log", "/logs/", "CITATION.cff", "CODEOWNERS"),
    *("LICENSE", "LICENSE.*", "LICENCE", "COPYING", "NOTICE", "AUTHORS"),
    *(".gitignore", ".git-blame-ignore-revs", ".mailmap", ".editorconfig", ".DS_Store"),
    *("/docs/", "/doc/", ".agents/**", ".vscode/", ".idea/"),
    "**/scratch/*_monitoring_state.json",  # what `herorun babysit --job` keeps of a job
)
_EXPERIMENTS = "experiments/**"
_OTHER_FOLDERS = (
    *(".github/**", ".gitlab/**", ".gitlab-ci.yml", ".circleci/**", ".buildkite/**", ".travis.yml"),
    *("azure-pipelines.yml", "Jenkinsfile", ".pre-commit-config.yaml"),
    *("*.ipynb", "test_*.py", "*_test.py", "conftest.py", _EXPERIMENTS),
    "runs/*.toml",  # other contracts; whether the run's own is committed has a check of its own
)
PRESET: Mapping[str, Impact] = {
    **dict.fromkeys(_TEXT, Impact.IGNORE),
    **dict.fromkeys(_SIBLING_FOLDERS, Impact.NOTICE),
    **dict.fromkeys(_BUILD_INPUTS, Impact.BLOCK),
    **dict.fromkeys(_OTHER_FOLDERS, Impact.NOTICE),
}
_CONFIG = (".yaml", ".yml", ".toml", ".json", ".jsonnet", ".cfg", ".ini", ".gin", ".conf")
_MAX_LINES = 200  # lines of a finding's details
_ORDER = (Impact.IGNORE, Impact.NOTICE, Impact.BLOCK)


def impact_of(path: str, rules: Mapping[str, Impact], closure: Collection[str] = ()) -> Impact:
    """What a change of this file means. What the entry point imports always blocks: `closure` can
    only raise.

    >>> impact_of("README.md", {}), impact_of("train.py", {})
    (<Impact.IGNORE: 'ignore'>, <Impact.BLOCK: 'block'>)
    """
    return _classifier(tuple(rules.items()), frozenset(closure))(path)


@lru_cache(maxsize=8)
def _classifier(
    rules: tuple[tuple[str, Impact], ...], closure: frozenset[str]
) -> Callable[[str], Impact]:
    """`impact_of` for many paths: what does not depend on the path is made once."""
    around = _around(closure)  # a repository inside: its folder stands for it
    rule_sets = [
        (compile_globs(tuple(rule_set)).first, list(rule_set.items()), rule_set is PRESET)
        for rule_set in (dict(rules), PRESET)
        if rule_set
    ]

    def classify(path: str) -> Impact:
        if path in closure or path.rstrip("/") in around:
            return Impact.BLOCK
        for first, items, is_preset in rule_sets:
            place = first(path)
            if place is not None:
                glob, impact = items[place]
                ours = is_preset and glob == _EXPERIMENTS and _configures(path, closure)
                return Impact.BLOCK if ours else impact
        return Impact.BLOCK

    return classify


def _configures(path: str, closure: frozenset[str]) -> bool:
    """Whether it is a config next to what is run, or below: that experiment is not an unrelated
    one.
    """
    if not path.endswith(_CONFIG):
        return False
    folder, *further = folders_above(path)
    own = _folders_of(closure)
    return folder in own or any(folder in own for folder in further if "/" in folder)


def folders_above(path: str) -> Iterator[str]:
    """The folders around a path, the nearest first."""
    while path := dirname(path):
        yield path


@lru_cache(maxsize=8)
def _folders_of(closure: frozenset[str]) -> frozenset[str]:
    return frozenset(map(dirname, closure))


@lru_cache(maxsize=8)
def _around(closure: frozenset[str]) -> frozenset[str]:
    return frozenset(folder for path in closure for folder in folders_above(path))


def of_impact(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str], impact: Impact
) -> tuple[str, ...]:
    """Those of the paths that are of one impact, in their order."""
    classify = _classifier(tuple(rules.items()), frozenset(closure))
    return tuple(path for path in paths if classify(path) is impact)


def by_impact(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]
) -> dict[str, Impact]:
    """Each path with its impact."""
    classify = _classifier(tuple(rules.items()), frozenset(closure))
    return {path: classify(path) for path in paths}


def worst(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]
) -> Impact | None:
    """The highest impact among the paths; None where there are none."""
    impacts = set(by_impact(paths, rules, closure).values())
    return max(impacts, key=_ORDER.index) if impacts else None


def config_paths(contract: Contract) -> tuple[str, ...]:
    """The `[config] files` as the tree lists them."""
    cwd = contract.command.cwd
    return tuple(posixpath.normpath(posixpath.join(cwd, name)) for name in contract.config.files)


def limit_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines for a finding's details, as many as are useful."""
    remaining = len(lines) - _MAX_LINES
    return (*lines[:_MAX_LINES], *([f"and {remaining} more"] if remaining > 0 else []))


def blocking_changes(
    contract: Contract,
    file: ContractFile,
    tree: WorkTree,
    closure: ImportClosure | Nothing | Unavailable,
) -> tuple[str, ...]:
    """What differs from HEAD and can change the training; `CouldNotLook` where that hangs on
    imports nobody read.
    """
    edited_files = (*tree.staged, *tree.unstaged, *tree.untracked, *tree.hidden, *tree.importable)
    # each has a check of its own
    others = {file.path, *(submodule.path for submodule in tree.submodules)}
    paths = tuple(dict.fromkeys(path for path in edited_files if path not in others))
    imported_files = closure.files if isinstance(closure, ImportClosure) else frozenset()
    changes = of_impact(paths, contract.code.impact, imported_files, Impact.BLOCK)
    if paths and not changes and isinstance(closure, Unavailable):
        raise CouldNotLook(f"What the entry point imports could not be read: {closure.why}")
    return changes


def list_ignored_files(tree: WorkTree) -> tuple[str, ...]:
    """What git ignores and the job could still import, except files of submodules."""
    inside = tuple(f"{submodule.path}/" for submodule in tree.submodules)
    return tuple(path for path in tree.importable if not path.startswith(inside))
