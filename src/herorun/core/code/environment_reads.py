"""Which variables of its environment a file reads: Python by its syntax, shell scripts and configs
by their `${NAME}`.

Nothing is run. A computed name is reported with its line; a variable that a library reads is not
seen.
"""

import ast
import re
import warnings
from collections.abc import Iterator

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_SHELL = (".sh", ".bash", ".sbatch", ".slurm")
_CONFIG = (".yaml", ".yml", ".toml", ".json")
_USE = lazy_regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_SET = lazy_regex(
    r"(?:^|[;&|({\s])(?:for\s+|read\s+(?:-\w+\s+)*|local\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)(?:\+?=|\s+in\s)"
)
_CONFIG_RESOLVER = lazy_regex(
    r"\$\{(?:oc\.)?env:\s*([A-Za-z_]\w*)"
)  # as OmegaConf and Hydra write it
_READERS = ("get", "pop", "setdefault")
_WORDS = (b"environ", b"getenv")


@dataclass(frozen=True)
class EnvironmentReads:
    """Names with the line of each, and the lines where a name is computed."""

    names: tuple[tuple[str, int], ...] = ()
    computed: tuple[int, ...] = ()


def environment_reads(path: str, data: bytes) -> EnvironmentReads:
    """By the ending of the path; a file without one that is no Python reads nothing."""
    if path.endswith(_SHELL):
        return _of_shell(data.decode("utf-8", "replace"))
    if path.endswith(_CONFIG):
        return EnvironmentReads(tuple(_matches(_CONFIG_RESOLVER, data.decode("utf-8", "replace"))))
    if not any(word in data for word in _WORDS):
        return EnvironmentReads()
    try:
        with warnings.catch_warnings():  # of other people's string escapes
            warnings.simplefilter("ignore")
            return _of_python(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return EnvironmentReads()


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in pattern.finditer(line):
            yield match[1], number


def _of_shell(text: str) -> EnvironmentReads:
    """What the script uses and does not set itself before; `PACK=${PACK:-8}` uses it."""
    set_names: set[str] = set()
    reads: list[tuple[str, int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        code = "" if line.lstrip().startswith("#") else line
        assigned_at = {match[1]: match.end(1) for match in reversed(list(_SET.finditer(code)))}
        for match in _USE.finditer(code):
            if match[1] not in set_names and not assigned_at.get(match[1], len(code)) < _word_start(
                code, match
            ):
                reads.append((match[1], number))
        set_names |= assigned_at.keys()
    return EnvironmentReads(tuple(reads))


def _word_start(code: str, match: re.Match[str]) -> int:
    """Where the word that holds a use begins: `PACK=${PACK:-8}` sets nothing before it uses it."""
    return max(code.rfind(sign, 0, match.start()) for sign in " \t;") + 1


def _of_python(tree: ast.Module) -> EnvironmentReads:
    names = _Names(tree)
    reads: list[tuple[str, int]] = []
    computed_lines: list[int] = []
    for node in ast.walk(tree):
        key = names.key_of(node)
        if key is None:
            continue
        literal = names.literal(key)
        if literal is None:
            computed_lines.append(key.lineno)
        else:
            reads.append((literal, key.lineno))
    return EnvironmentReads(
        tuple(sorted(reads, key=lambda entry: entry[1])), tuple(sorted(computed_lines))
    )


class _Names:
    """What a file calls the environment, and its constants."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules, self.environs, self.readers = {"os"}, set[str](), set[str]()
        self.constants: dict[str, str] = {}
        for node in ast.walk(tree):
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                self.modules |= {each.asname for each in names if each.name == "os" and each.asname}
            case ast.ImportFrom(module="os", names=names):
                for each in names:
                    target = self.environs if each.name in ("environ", "environb") else self.readers
                    if each.name in ("environ", "environb", "getenv", "getenvb"):
                        target.add(each.asname or each.name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assign(name, value)

    def _assign(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            self.constants[name] = value.value
        elif self._is_environ(value):
            self.environs.add(name)

    def _is_environ(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr="environ" | "environb"):
                return module in self.modules
            case ast.Name(id=name):
                return name in self.environs
            case (
                ast.Call(func=ast.Attribute(value=value, attr="copy"))
                | ast.Call(func=ast.Name(id="dict"), args=[value])
            ):
                return self._is_environ(value)
        return False

    def key_of(self, node: ast.AST) -> ast.expr | None:
        """The key that a piece of code reads of the environment; None where it reads none."""
        match node:
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if self._is_environ(value):
                return key
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[key, *_]):
                getter = (
                    attr in ("getenv", "getenvb")
                    and isinstance(value, ast.Name)
                    and value.id in self.modules
                )
                return key if getter or (attr in _READERS and self._is_environ(value)) else None
            case ast.Call(func=ast.Name(id=name), args=[key, *_]) if name in self.readers:
                return key
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[value]) if (
                self._is_environ(value)
            ):
                return key
        return None

    def literal(self, key: ast.expr) -> str | None:
        match key:
            case ast.Constant(value=str() as name):
                return name
            case ast.Constant(value=bytes() as name):
                return name.decode("utf-8", "replace")
            case ast.Name(id=name):
                return self.constants.get(name)
        return None
