"""What a program's text names: files by suffix, literal arguments of a call, words of a pattern.
Pure.

Text tells less than a run: a name that is put together counts as computed, and then nothing is
concluded from it.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from posixpath import basename, splitext

from herorun.core.code.python_imports import imported_by
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

# Libraries that compute, and write no metrics on their own: any other one may name what the script
# does not.
PLAIN = frozenset(
    {
        *("einops", "herorun", "jax", "jaxlib", "numpy", "optax", "safetensors", "scipy"),
        *("tensorboard", "tomli", "tomli_w", "torch", "wandb", "yaml"),
    }
)
_VARYING = lazy_regex(r"\(\?|[|?*{]")  # a word next to one of these need not stand in the line
_NO_WORD = lazy_regex(r"\\.|\[[^\]]*\]|[^A-Za-z]+")
# that `logging` writes by itself
_LEVELS = frozenset({"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"})
_BY_NAME = 1 << 30  # of an argument that has no position
_MIN_LENGTH = 4  # letters: a shorter word stands in any program


@dataclass(frozen=True)
class NamedValue:
    """A value as it stands in a file; None where it is computed."""

    value: str | None
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.value!r} ({self.path}:{self.line})"


@dataclass(frozen=True)
class JobProgram:
    """The Python files of a job by their path, parsed."""

    trees: Mapping[str, ast.Module]

    def files(self, suffix: str) -> Iterator[NamedValue]:
        """Literals that end in the suffix; a bare suffix, or a part of an f-string, belongs to a
        computed name.
        """
        for path, tree in self.trees.items():
            parts = {
                id(part)
                for node in ast.walk(tree)
                if isinstance(node, ast.JoinedStr)
                for part in node.values
            }
            for node in ast.walk(tree):
                if (
                    (value := _string_of_node(node))
                    and value.endswith(suffix)
                    and not re.search(r"\s", value)
                ):
                    is_literal = id(node) not in parts and splitext(basename(value))[1] == suffix
                    yield NamedValue(
                        value if is_literal else None, path, getattr(node, "lineno", 0)
                    )

    def arguments(
        self, callee: str, keyword: str, position: int = _BY_NAME
    ) -> Iterator[NamedValue]:
        """What each call of `callee` (`wandb.init`) gives for the keyword; nothing for a call
        without it.
        """
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                if not isinstance(node, ast.Call) or ast.unparse(node.func) != callee:
                    continue
                keyword_values = [
                    each.value for each in node.keywords if each.arg in (keyword, None)
                ]
                for value in (*keyword_values, *node.args[position : position + 1]):
                    yield NamedValue(_string_of_node(value), path, node.lineno)


def program(files: Mapping[str, bytes]) -> JobProgram:
    """A file that is no Python is left out."""
    trees = {}
    for path, data in files.items():
        with warnings.catch_warnings():  # of other people's string escapes
            warnings.simplefilter("ignore")
            try:
                trees[path] = ast.parse(data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return JobProgram(trees)


def foreign_imports(files: Mapping[str, bytes], standard: frozenset[str]) -> list[str]:
    """Packages that may name what these files do not: neither of the standard library nor
    `PLAIN`.
    """
    own = {part.removesuffix(".py") for path in files for part in path.split("/")}
    tops = {
        one.module.partition(".")[0]
        for path, data in files.items()
        if path.endswith(".py")
        for one in imported_by(data)
        if not one.level
    }
    return sorted(tops - own - standard - PLAIN - {""})


def required_substrings(pattern: str) -> list[str]:
    """Words that each line which the pattern matches must hold; none where that is not plain from
    its text.
    """
    if _VARYING.search(pattern):
        return []
    return [
        word for word in _NO_WORD.split(pattern) if len(word) >= _MIN_LENGTH and word not in _LEVELS
    ]


def _string_of_node(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
