"""Which loaded modules are the run's own, and which of them came from elsewhere than the admitted
tree.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

from collections.abc import Iterable, Mapping, Sequence

# herorun judges the run and does not belong to it, even in herorun's own repository.
OWN = "herorun"
_ENDINGS = (".py", "/__init__.py", ".so", ".pyd")


def code_roots(argv: Sequence[str], cwd: str, files: Iterable[str]) -> tuple[str, ...]:
    """The folders of the tree that modules are imported from: the top, `src`, the working
    directory, the script's.

    `cwd` is relative to the top, and so are the roots; the top itself is "".

    >>> code_roots(["python", "jobs/train.py"], ".", ["jobs/train.py"])
    ('', 'src', 'jobs')
    """
    tree = set(files)
    start = _normalise_path(cwd)
    scripts = [path for part in argv if (path := _normalise_path(f"{start}/{part}")) in tree]
    folders = [script.rpartition("/")[0] for script in scripts]
    return tuple(dict.fromkeys(["", "src", start, *([f"{start}/src"] if start else []), *folders]))


def _normalise_path(path: str) -> str:
    """A path as the tree lists it, without `.` and `..`."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)


def strays(
    modules: Mapping[str, str], code: Sequence[str], files: Iterable[str], roots: Sequence[str]
) -> tuple[dict[str, str], int]:
    """First-party modules that were loaded from outside the tree, and how many first-party modules
    are loaded.

    `loaded` is module -> file, `code` the spellings of the tree's own folder (itself, and where its
    links lead).
    A module is first-party if the tree holds a file of its dotted name under one of the roots, or
    if it was loaded from another checkout of the tree.
    """
    tree = set(files)
    tops = {
        _top(name, root)
        for name in tree
        for root in roots
        if not root or name.startswith(f"{root}/")
    }
    wrong, total = {}, 0
    for module, file in modules.items():
        top = module.partition(".")[0]
        in_tree = top in tops and _of_tree(module, tree, roots)
        if top == OWN or not (
            in_tree or (not _is_installed(file) and _has_same_location(module, file, tree))
        ):
            continue
        total += 1
        if not any(file.startswith(f"{folder}/") for folder in code):
            wrong[module] = file
    remaining = _without_namesakes(wrong, modules, tree, roots)
    return remaining, total - len(wrong) + len(remaining)


def _has_same_location(module: str, file: str, tree: set[str]) -> bool:
    """Whether its path ends like one in the tree: a checkout may be imported from any of its
    folders.
    """
    path = "/" + module.replace(".", "/")
    ending = next((end for end in _ENDINGS if file.endswith(path + end)), None)
    if ending is None:
        return False
    parts = file.split("/")
    most = len(parts) - (path + ending).count("/")
    return any("/".join(parts[n:]) in tree for n in range(1, most + 1))


def _without_namesakes(
    wrong: Mapping[str, str], modules: Mapping[str, str], tree: set[str], roots: Sequence[str]
) -> dict[str, str]:
    """Without the installed packages that only share a name with the tree's: most of their modules
    are not in it.

    The tree's `datasets/` is not the `datasets` that a script in another folder gets from its
    environment.
    """
    package_of = {
        name: _package(name, tree, roots) for name, file in wrong.items() if _is_installed(file)
    }
    namesakes = {
        package
        for package in set(package_of.values())
        if 2 * _count(wrong, package) < _count(modules, package)
    }
    return {name: file for name, file in wrong.items() if package_of.get(name) not in namesakes}


def _package(module: str, tree: set[str], roots: Sequence[str]) -> str:
    """The outermost package that the tree holds: of a namespace package, the first below it."""
    parts = module.split(".")
    names = (".".join(parts[: n + 1]) for n in range(len(parts)))
    return next(name for name in names if _of_tree(name, tree, roots))


def _count(modules: Iterable[str], package: str) -> int:
    return sum(name == package or name.startswith(f"{package}.") for name in modules)


def _is_installed(file: str) -> bool:
    return "/site-packages/" in file or "/dist-packages/" in file


def _top(name: str, root: str) -> str:
    inside = name[len(root) + 1 :] if root else name
    return inside.partition("/")[0].partition(".")[0]


def _of_tree(module: str, tree: set[str], roots: Sequence[str]) -> bool:
    path = module.replace(".", "/")
    heads = [f"{root}/{path}" if root else path for root in roots]
    return any(f"{head}{end}" in tree for head in heads for end in _ENDINGS)
