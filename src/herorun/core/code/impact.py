"""Whether a changed file can change the training: ordered globs, first match wins.

The contract's `[code] impact` is asked first, then the shipped preset; what neither names blocks. `core.code.globs`
says how a glob is written.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from herorun.core.code.globs import first_match
from herorun.core.contract import Impact

_BESIDE = ("tests/",)
_BUILT = (  # what is installed and built, wherever it lies but for tests and documentation
    *("*.lock", "*lock.json", "*lock.yaml", "*lock.yml"),
    *("pyproject.toml", "setup.py", "setup.cfg", "Pipfile"),
    *("*requirements*.txt", "*requirements*.in", "environment*.yml", "environment*.yaml"),
    *("Dockerfile", "Dockerfile.*", "*.Dockerfile", "*.dockerfile", "Containerfile", "Containerfile.*"),
    *("docker-compose*.yml", "docker-compose*.yaml", ".dockerignore", "*.def"),
)
_TEXT = (
    *("*.md", "*.markdown", "*.rst", "*.adoc", "*.log", "/logs/", "CITATION.cff", "CODEOWNERS"),
    *("LICENSE", "LICENSE.*", "LICENCE", "COPYING", "NOTICE", "AUTHORS"),
    *(".gitignore", ".git-blame-ignore-revs", ".mailmap", ".editorconfig", ".DS_Store"),
    *("/docs/", "/doc/", ".agents/**", ".vscode/", ".idea/"),
)
_ASIDE = (
    *(".github/**", ".gitlab/**", ".gitlab-ci.yml", ".circleci/**", ".buildkite/**", ".travis.yml"),
    *("azure-pipelines.yml", "Jenkinsfile", ".pre-commit-config.yaml"),
    *("*.ipynb", "test_*.py", "*_test.py", "conftest.py", "experiments/**"),
    "runs/*.toml",  # other contracts; whether the run's own is committed has a check of its own
)
PRESET: Mapping[str, Impact] = {
    **dict.fromkeys(_TEXT, Impact.IGNORE),
    **dict.fromkeys(_BESIDE, Impact.NOTICE),
    **dict.fromkeys(_BUILT, Impact.BLOCK),
    **dict.fromkeys(_ASIDE, Impact.NOTICE),
}
_MOST = 200  # lines of a finding's details
_ORDER = (Impact.IGNORE, Impact.NOTICE, Impact.BLOCK)


def impact_of(path: str, rules: Mapping[str, Impact], closure: Collection[str] = ()) -> Impact:
    """What a change of this file means. What the entry point imports always blocks: `closure` can only raise.

    >>> impact_of("README.md", {}), impact_of("train.py", {})
    (<Impact.IGNORE: 'ignore'>, <Impact.BLOCK: 'block'>)
    """
    if path in closure:
        return Impact.BLOCK
    for ordered in (rules, PRESET):
        place = first_match(tuple(ordered), path)
        if place is not None:
            return tuple(ordered.values())[place]
    return Impact.BLOCK


def of_impact(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str], wanted: Impact
) -> tuple[str, ...]:
    """Those of the paths that are of one impact, in their order."""
    return tuple(path for path in paths if impact_of(path, rules, closure) is wanted)


def by_impact(
    paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]
) -> dict[str, Impact]:
    """Each path with its impact."""
    return {path: impact_of(path, rules, closure) for path in paths}


def worst(paths: Iterable[str], rules: Mapping[str, Impact], closure: Collection[str]) -> Impact | None:
    """The highest impact among the paths; None where there are none."""
    found = {impact_of(path, rules, closure) for path in paths}
    return max(found, key=_ORDER.index) if found else None


def listed(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines for a finding's details, as many as anybody reads."""
    rest = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {rest} more"] if rest > 0 else []))
