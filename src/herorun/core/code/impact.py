"""Whether a changed file can change the training: ordered globs, first match wins.

The contract's `[code] impact` is asked first, then the shipped preset; what neither names blocks.
`core.code.globs` says how a glob is written.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import dirname

from herorun.core.code.globs import first_match
from herorun.core.contract import Contract, Impact

_SIBLING_FOLDERS = ("tests/",)
_BUILT = (  # what is installed and built, wherever it lies but for tests and documentation
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
    **dict.fromkeys(_BUILT, Impact.BLOCK),
    **dict.fromkeys(_OTHER_FOLDERS, Impact.NOTICE),
}
_CONFIG = (".yaml", ".yml", ".toml", ".json", ".jsonnet", ".cfg", ".ini", ".gin", ".conf")
_MOST = 200  # lines of a finding's details
_ORDER = (Impact.IGNORE, Impact.NOTICE, Impact.BLOCK)


def impact_of(path: str, rules: Mapping[str, Impact], closure: Collection[str] = ()) -> Impact:
    """What a change of this file means. What the entry point imports always blocks: `closure` can
    only raise.

    >>> impact_of("README.md", {}), impact_of("train.py", {})
    (<Impact.IGNORE: 'ignore'>, <Impact.BLOCK: 'block'>)
    """
    imported_files = frozenset(closure)
    if path in imported_files or path.rstrip("/") in _around(
        imported_files
    ):  # a repository inside: its folder stands for it
        return Impact.BLOCK
    for rule_set in (rules, PRESET):
        place = first_match(tuple(rule_set), path)
        if place is not None:
            glob = tuple(rule_set)[place]
            ours = rule_set is PRESET and glob == _EXPERIMENTS and _configures(path, imported_files)
            return Impact.BLOCK if ours else rule_set[glob]
    return Impact.BLOCK


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
    return tuple(path for path in paths if impact_of(path, rules, closure) is impact)


def by_impact(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]
) -> dict[str, Impact]:
    """Each path with its impact."""
    return {path: impact_of(path, rules, closure) for path in paths}


def worst(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]
) -> Impact | None:
    """The highest impact among the paths; None where there are none."""
    impacts = {impact_of(path, rules, closure) for path in paths}
    return max(impacts, key=_ORDER.index) if impacts else None


def config_paths(contract: Contract) -> tuple[str, ...]:
    """The `[config] files` as the tree lists them."""
    cwd = contract.command.cwd
    return tuple(posixpath.normpath(posixpath.join(cwd, name)) for name in contract.config.files)


def limit_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines for a finding's details, as many as are useful."""
    remaining = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {remaining} more"] if remaining > 0 else []))
