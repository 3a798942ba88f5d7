"""Globs, written like a line of .gitignore, relative to the repository's top. Case matters.

- `*` and `?` stay within one folder, `**` crosses folders, `[abc]` and `[!abc]` are one character
  of a set;
- a pattern without a slash matches a file of that name in any folder: `*.md`;
- a slash at its beginning or in its middle ties it to the top: `/README.txt`, `src/*.py`,
  `src/**/data/*.json`;
- a slash at its end means everything below: `docs/` in any folder, `/docs/` at the top alone;
- a backslash takes the next character as it is.

Not `pathspec`: its import takes 100 ms, it raises on `[z-a]`, and its `*.txt` also matches the
content of a folder `a.txt/`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex


@dataclass(frozen=True)
class _Globs:
    """Some of the globs as one expression: the number of its group is the place in `places` of the
    first that matches.
    """

    expression: re.Pattern[str]
    places: tuple[int, ...]

    def first(self, text: str) -> int | None:
        match = self.expression.fullmatch(text)
        return self.places[match.lastindex - 1] if match and match.lastindex else None


@dataclass(frozen=True)
class OrderedGlobs:
    """Globs in their order. Those of a name alone are asked about the name alone, which is much
    quicker.
    """

    names: _Globs
    paths: _Globs

    def first(self, path: str) -> int | None:
        """The place of the first glob that matches a path."""
        name_place = self.names.first(path.rpartition("/")[2])
        path_place = self.paths.first(path)
        if name_place is None or path_place is None:
            return path_place if name_place is None else name_place
        return min(name_place, path_place)


@lru_cache(maxsize=64)
def compile_globs(globs: tuple[str, ...]) -> OrderedGlobs:
    names, paths = {}, {}
    for place, glob in enumerate(globs):
        if "/" in glob or "**" in glob:
            paths[place] = regex_of(glob)
        else:
            names[place] = "".join(_translate_tokens(glob))
    return OrderedGlobs(_together(names), _together(paths))


def _together(expressions: Mapping[int, str]) -> _Globs:
    text = "|".join(f"({expression})" for expression in expressions.values()) or r"(?!)"
    return _Globs(re.compile(text, re.DOTALL), tuple(expressions))


def regex_of(glob: str) -> str:
    """The regular expression, without groups that capture, of one glob.

    >>> regex_of("src/*.py")
    'src/[^/]*\\\\.py'
    """
    below = glob.endswith("/")
    body = glob.rstrip("/") if below else glob
    has_slash = "/" in body
    body = body.removeprefix("/")
    start = "" if has_slash else "(?:.*/)?"
    return start + "".join(_translate_tokens(body)) + ("/.*" if below else "")


_TOKEN = lazy_regex(
    r"(?P<cross>\*\*/)|(?P<deep>\*\*+)|\\(?P<plain>.)|\[(?P<set>[!^]?(?:\][^]]*|[^]]+))\]|(?P<one>.)",
    re.DOTALL,
)


def _translate_tokens(body: str) -> Iterator[str]:
    for token in _TOKEN.finditer(body):
        match token.lastgroup:
            case "cross":
                yield "(?:.*/)?"
            case "deep":
                yield ".*"
            case "plain":
                yield re.escape(token["plain"])
            case "set":
                yield _set(token["set"])
            case _:
                yield {"*": "[^/]*", "?": "[^/]"}.get(token["one"], re.escape(token["one"]))


def _set(inside: str) -> str:
    """`[...]` of a glob; one that makes no sense stands for its own characters."""
    is_negated = len(inside) > 1 and inside[0] in "!^"
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if is_negated else inside)
    expression = f"(?!/)[{'^' if is_negated else ''}{members}]"
    try:
        re.compile(expression)
    except re.error:
        return re.escape(f"[{inside}]")
    return expression
