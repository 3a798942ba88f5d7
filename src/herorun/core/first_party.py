"""Which loaded modules are the run's own, and which of them came from elsewhere than the admitted tree.

Standard library only, and light: this also runs inside the job, on every rank, before the training starts.
"""

from collections.abc import Iterable, Mapping, Sequence

# herorun judges the run and is no part of it, also where the repository is herorun's own.
OWN = "herorun"
_ENDINGS = (".py", "/__init__.py", ".so", ".pyd")


def code_roots(argv: Sequence[str], cwd: str, files: Iterable[str]) -> tuple[str, ...]:
    """The folders of the tree that modules are imported from: the top, `src`, the working directory, the script's.

    `cwd` is relative to the top, and so are the roots; the top itself is "".

    >>> code_roots(["python", "jobs/train.py"], ".", ["jobs/train.py"])
    ('', 'src', 'jobs')
    """
    there = set(files)
    start = _clean(cwd)
    scripts = [path for part in argv if (path := _clean(f"{start}/{part}")) in there]
    folders = [script.rpartition("/")[0] for script in scripts]
    return tuple(dict.fromkeys(["", "src", start, *([f"{start}/src"] if start else []), *folders]))


def _clean(path: str) -> str:
    """A path as the tree lists it, without `.` and `..`."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)


def strays(
    loaded: Mapping[str, str], code: Sequence[str], files: Iterable[str], roots: Sequence[str]
) -> tuple[dict[str, str], int]:
    """First-party modules that were loaded from outside the tree, and how many first-party modules are loaded.

    `loaded` is module -> file, `code` the spellings of the tree's own folder (itself, and where its links lead).
    A module is first-party if the tree holds a file of its dotted name under one of the roots.
    """
    there = set(files)
    tops = {_top(name, root) for name in there for root in roots if not root or name.startswith(f"{root}/")}
    wrong, seen = {}, 0
    for module, file in loaded.items():
        top = module.partition(".")[0]
        if top not in tops or top == OWN or not _of_tree(module, there, roots):
            continue
        seen += 1
        if not any(file.startswith(f"{folder}/") for folder in code):
            wrong[module] = file
    return wrong, seen


def _top(name: str, root: str) -> str:
    inside = name[len(root) + 1 :] if root else name
    return inside.partition("/")[0].partition(".")[0]


def _of_tree(module: str, there: set[str], roots: Sequence[str]) -> bool:
    path = module.replace(".", "/")
    heads = [f"{root}/{path}" if root else path for root in roots]
    return any(f"{head}{end}" in there for head in heads for end in _ENDINGS)
