"""PEP 508 requirements, as `[runtime] packages` states them. `packaging` is imported where one is
really read.
"""

from collections.abc import Iterable, Mapping


def problem_of(text: str) -> str:
    """Why it is no requirement; empty if it is one.

    >>> problem_of("numpy==2.1.0"), problem_of("numpy = 2")[:20]
    ('', 'Expected semicolon (')
    """
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement as error:
        return str(error).splitlines()[0].strip()
    return ""


def exact_versions(requirements: Iterable[str]) -> dict[str, str]:
    """Package -> version, of those that name exactly one: what can be compared without `packaging`,
    in the job.
    """
    pairs = (_exact(text) for text in requirements if not problem_of(text))
    return dict(pair for pair in pairs if pair)


def _exact(requirement: str) -> tuple[str, str] | None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    req = Requirement(requirement)
    clauses = list(req.specifier)
    if len(clauses) != 1 or clauses[0].operator not in ("==", "===") or "*" in clauses[0].version:
        return None
    return str(canonicalize_name(req.name)), clauses[0].version


def unmet(requirement: str, packages: Mapping[str, str]) -> str:
    """What is wrong with a requirement in an environment of canonical name -> version; empty if
    nothing.

    A marker that does not hold here asks for nothing. A direct reference (`name @ url`) has no
    version to compare.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    req = Requirement(requirement)
    if req.marker is not None and not req.marker.evaluate():
        return ""
    version = packages.get(str(canonicalize_name(req.name)))
    if version is None:
        return f"{req.name} is not installed"
    if not req.specifier.contains(version, prereleases=True):
        return f"{req.name} is {version}, but {req.specifier} is required"
    return ""


def specifier_problem(text: str) -> str:
    """Why it is no PEP 440 version specifier; empty if it is one.

    >>> specifier_problem("~=0.4"), specifier_problem("latest")
    ('', "Invalid specifier: 'latest'")
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        return str(error).splitlines()[0]
    return ""


def version_fits(specifier: str, version: str) -> bool:
    """Whether a version is one that the specifier allows, pre-releases too; an empty one allows
    every version.
    """
    if not specifier:
        return True
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidVersion:
        return False
