"""library.md, printed from the docstrings of herorun's front door."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from words import comments, page, sentence, show_text, table

import herorun
from herorun.core.docstrings import unwrap
from herorun.operations.launch.launch import LaunchOutcome
from herorun.operations.launch.preflight import PreflightOutcome
from herorun.operations.seal.seal import SealOutcome

INTRO = """\
What the commands do, from Python.
`import herorun` is fast, `check_in` needs only the standard library, and the package is typed (`py.typed`).
Only the names on this page are stable.

```python
import herorun

run = herorun.load("runs/grug.toml")
herorun.preflight(run).raise_if_blocked()
```"""  # noqa: E501  # a text that is read as it stands
CONTRACT = (
    "Its tables and keys are those of [the contract file](contract.md): "
    "`herorun.Contract(slug=..., command={...}, ...)`."
)
ERRORS = (
    "Each message says what happened, where, and what to do next. The commands end with these "
    "exit codes."
)
WIDTH = 100  # as ruff formats the code in a page
RETURN_TYPES = (PreflightOutcome, LaunchOutcome, SealOutcome)


def library_page() -> str:
    names = {name: getattr(herorun, name) for name in sorted(herorun.__all__)}
    errors = {
        name: it for name, it in names.items() if inspect.isclass(it) and issubclass(it, Exception)
    }
    classes = {name: it for name, it in names.items() if inspect.isclass(it) and name not in errors}
    functions = [
        function_part(f"herorun.{name}", it) for name, it in names.items() if inspect.isfunction(it)
    ]
    rows = [
        (f"`herorun.{name}`", str(getattr(it, "exit_code", "")), first(it))
        for name, it in errors.items()
    ]
    return page(
        "The library",
        "the docstrings of herorun's front door",
        [
            INTRO,
            "## Functions",
            *functions,
            "## What they return",
            *(type_part(kind) for kind in RETURN_TYPES),
            "## Types",
            *(
                f"### herorun.{name}\n\n{prose(it)}"
                + (f"\n\n{CONTRACT}" if name == "Contract" else "")
                for name, it in classes.items()
            ),
            "## Errors",
            ERRORS,
            table(("error", "exit code", "meaning"), rows),
        ],
    )


def first(it: Any) -> str:
    return unwrap(inspect.getdoc(it) or "").partition("\n")[0]


def prose(it: Any) -> str:
    """The docstring; a parameter's name in backticks stays as it is."""
    return show_text(unwrap(inspect.getdoc(it) or ""))


def function_part(name: str, it: Any) -> str:
    return (
        f"### {name}\n\n```python\n{signature(name.rpartition('.')[2], it)}: ...\n```\n\n"
        f"{prose(it)}"
    )


def signature(name: str, it: Any) -> str:
    """As ruff would write it, types without the modules that they come from."""
    types = inspect.signature(it)
    words = [plain(str(each)) for each in types.parameters.values()]
    star = next(
        (at for at, each in enumerate(types.parameters.values()) if each.kind is each.KEYWORD_ONLY),
        None,
    )
    if star is not None:
        words.insert(star, "*")
    annotation = types.return_annotation
    answer = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", None) or str(annotation)
    )
    if not isinstance(annotation, type):
        answer = str(annotation)
    line = f"def {name}({', '.join(words)}) -> {plain(answer)}"
    if len(line) + len(": ...") <= WIDTH:
        return line
    return f"def {name}(\n" + "".join(f"    {word},\n" for word in words) + f") -> {plain(answer)}"


def plain(text: str) -> str:
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text).replace("'\\x00unsaid'", "...")
    return re.sub(r"'([^'\"]*)'", r'"\1"', text)


def type_part(kind: Any) -> str:
    rows = [(f"`.{name}`", words) for name, words in members(kind)]
    return f"### {kind.__name__}\n\n{prose(kind)}\n\n{table(('member', 'meaning'), rows)}"


def members(kind: Any) -> Iterator[tuple[str, str]]:
    """Its fields, public properties and methods, as far as they say what they are."""
    texts = comments(kind)
    yield from (
        (each.name, sentence(texts[each.name])) for each in fields(kind) if each.name in texts
    )
    for name, it in vars(kind).items():
        if name.startswith("_"):
            continue
        call = "()" if inspect.isfunction(it) else ""
        if (isinstance(it, property) or call) and (doc := first(it)):
            yield f"{name}{call}", doc
