"""Secrets by the name before them: `--x-token=`, `password: `, `"api_key": "..."`, `HF_TOKEN
0a1b...`.
"""

import re
from collections.abc import Iterator

from herorun.core.lazy_regex import lazy_regex

_NAME = (
    r"(?:(?:api|access|account|private)[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|bearer|auth"
    r"|x-(?:amz|goog)-signature)"
)
# Weaker words, which name a secret only where they end a name: not `key_size`, `monkey`, `passes`.
_LAST = r"(?:(?<![A-Za-z])(?:key|pass|pwd|pat)|(?-i:(?<=[a-z])(?:Key|Pass|Pwd)))(?:[_-]?\d++)?(?![\w-]|\.\w)"  # noqa: E501  # one pattern
_ASSIGNMENT = lazy_regex(
    # the name, which may be quoted, also with escaped quotes
    rf"(?P<name>(?<![\w.-])(?=[\w.-]*?(?:{_NAME}|{_LAST}))[\w.-]++)(?:'\"'\"'|\\*+[\"']?)\]?"
    # what joins them: `=`, `:`, the word `value` of a list of variables, a sign of a table, a
    # blank, or the comma of a list of words
    r"(?P<join>\s*+(?:=+>|:=|[=:])\s*+(?:!!?\w*+\s++|\\\r?\n\s*+)?"
    r"|\s*+,?\s*+(?:(?:(?<=\\)|\\++)n\s*+)?\\*+[\"']?value\\*+[\"']?\s*+[:=]\s*+|\s++(?:is|->|[|│→])\s++"
    r"|\s*+,\s*+(?=\\*+[\"'])|\s++(?!-))"
    # the value: to the closing quote, whatever is in it; without one, to a blank or to what begins
    # the next value
    r"(?:(?:\$|[bBrRfFuU]{1,2}|(?:[\w.]++\()+)?"
    r"(?:(?P<quote>[\"'])(?!(?<=')\"'\"')(?P<quoted>(?:[^\n\\\"']++|\\.|'\"'\"'|(?!(?P=quote))[\"'])*)"
    r"|(?P<escaped>'\"'\"'|\\++[\"'])(?P<inside>(?:[^\n'\\]++|(?!(?P=escaped))['\\])+))"
    r"|(?P<bare>(?:[^\s\"',;&}\]\\]++|[,;&](?=[^\s\"'\\])(?![\w.-]+[=:])|[}\]](?=[A-Za-z0-9])|\\(?![nrt\"'\\]))+))",
    re.IGNORECASE,
)
# What a value cannot be if it is a secret: a small number, a word of YAML, a variable's name, a
# digest, what is masked.
_HARMLESS = lazy_regex(
    r"sha256:[0-9a-f]{64}|true|false|null|none|\d{1,6}(?:\.\d+)?|\[scrubbed\]?|\$\{?\w+\}?"
    r"|munge|kerberos|iam|adc|netrc|anon(?:ymous)?|google_default|required|optional|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)",
    re.IGNORECASE,
)
# Each match of these patterns has one of these parts in it, and each match of `_INNOCENT_NAME` one
# of the last. Most texts have none, and then no pattern is compiled.
_STRONG_PARTS = ("key", "secret", "token", "pass", "credential", "bearer", "auth", "signature")
_WEAK_PARTS = ("key", "pass", "pwd", "pat")
_INNOCENT_PARTS = ("token", "author", "error", "exception")
# What a pattern that ignores case takes for an i, an s or a k, besides those letters.
_LOOKALIKES = "\u0130\u0131\u017f\u212a"
_SECRET_NAME = lazy_regex(_NAME, re.IGNORECASE)
_LAST_WORD = lazy_regex(_LAST, re.IGNORECASE)
# Whose key is a secret, however short it is; any other key is one if it looks like it, and is no
# digest with a prefix.
_SECRET_KEY = lazy_regex(
    r"(?:wandb|comet|neptune|mlflow|tracker|hf|hub|openai|anthropic|aws|s3|gcp|gcs|google|azure|ssh|auth|service"
    r"|license|sign(?:ing)?|encrypt(?:ion)?|master|deploy|storage|client)[_.-]?key",
    re.IGNORECASE,
)
_RANDOM = lazy_regex(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+=]{16,}")
_MIXED_TEXT = lazy_regex(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_.~-]{8,}")
_LONG = lazy_regex(r"(?=[^\d]*\d)(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9+/=]{32,}")
_OF_AWS = lazy_regex(r"aws_(?:secret_access_key|session_token)", re.IGNORECASE)
_PATH = lazy_regex(r"[~.]{0,2}/\S*|\w+://\S*")
_OF_ENVIRONMENT = lazy_regex(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*")
# A language model's tokens are no secret: neither the tools and the special ones, nor a number of
# them.
_INNOCENT_NAME = lazy_regex(
    r"tokeni[sz]\w*|(?<![a-z])(?:bos|eo[sdtm]|pad|unk|sep|cls|mask|image|video|audio|special)[_-]token"
    r"|tokens[_-]per[_-]\w+|token[_-](?:d?types?|embed|shift|mix|drop|per(?![a-z])|level|parallel|shuffl|dispatch|rout|choice|merg|prun|mask)\w*|authors?(?!i[sz])|\w*(?:Error|Exception)",
    re.IGNORECASE,
)
_COUNTING_NAME = lazy_regex(r"tokens|token[_-](?:ids?|counts?|budget|limit|length)", re.IGNORECASE)
_COUNT = lazy_regex(r"[+-]?[\d_]+(?:\.\d+)?(?:e[+-]?\d+)?[kmgtb]?", re.IGNORECASE)


def mask_named(text: str, mask: str) -> str:
    out, position = [], 0
    for start, end in _find_secret_values(text):
        out += [text[position:start], mask]
        position = end
    return "".join([*out, text[position:]])


def secrets_by_name(text: str) -> tuple[str, ...]:
    """The values that a name in the text tells as secrets."""
    return tuple(text[start:end] for start, end in _find_secret_values(text))


def _find_secret_values(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    if not _may_assign(text):
        return
    while match := _ASSIGNMENT.search(text, at):
        kind = next(kind for kind in ("quoted", "inside", "bare") if match[kind] is not None)
        start = match.start(kind) if kind != "bare" else _after_opening(text, match.start(kind))
        value = text[start : match.end(kind)]
        if _is_joined(match, value) and is_secret(match["name"], value) and not _is_folder(match):
            yield start, match.end(kind)
            at = match.end(kind)
        else:  # a quoted value, and one with a sign in it, may hold another name with its own
            is_bare = kind == "bare" and "=" not in value and ":" not in value
            at = match.end() if is_bare else match.start(kind)


def _after_opening(text: str, start: int) -> int:
    """Where the first value begins: what opens a list is no part of it."""
    while text[start : start + 1] in ("[", "(", "{") and not text.startswith("[scrubbed", start):
        start += 1
    return start


def _may_assign(text: str) -> bool:
    """Whether a name may be in the text, and after it what joins a value to it: a sign or a
    blank.
    """
    if has_lookalikes(text):
        return True
    small = text.lower()
    starts = [small.find(part) for part in (*_STRONG_PARTS, *_WEAK_PARTS) if part in small]
    if not starts or not (_has_any(text, _STRONG_PARTS) or _may_end_a_name(text)):
        return False
    after = small[min(starts) :]
    return any(map(after.__contains__, "=:,")) or len(after.split()) > 1


def _is_joined(match: re.Match[str], value: str) -> bool:
    """Whether the value is the name's, by what stands between the two."""
    name, sign = match["name"], match["join"].strip()
    if name.startswith("-"):
        return not value.startswith("-")
    if sign == "," or "value" in sign.lower():
        return bool(_OF_ENVIRONMENT.fullmatch(name))
    if sign in ("is", "->", "→", "|", "│"):
        return bool(_OF_ENVIRONMENT.fullmatch(name) and _MIXED_TEXT.fullmatch(value))
    if sign:
        return len(value) > 3 and not (name == "pass" and match["bare"] and value.isalpha())
    if _OF_AWS.search(name):
        return len(value) > 15
    shapes = (_MIXED_TEXT,) if _OF_ENVIRONMENT.fullmatch(name) else (_RANDOM, _LONG)
    is_random = any(shape.fullmatch(value) for shape in shapes) and not _PATH.fullmatch(value)
    return is_random and names_strongly(name)


def _is_folder(match: re.Match[str]) -> bool:
    """`s3://bucket/key=0a1b/part-0`: a weak word within a path names a partition of a table."""
    return match.string[: match.start()].endswith("/") and not names_strongly(match["name"])


def is_secret(name: str, value: str) -> bool:
    """`--token abc` and `TOKEN=abc` hold one; `tokens_per_second=9` and `tokenizer=llama` do
    not.
    """
    if not value or _HARMLESS.fullmatch(value):
        return False
    if names_strongly(name):
        return not (_COUNTING_NAME.search(name) and _COUNT.fullmatch(value))
    match = _last_word(name)
    if not match or _PATH.fullmatch(value):
        return False
    return match[0].lower()[:3] not in ("key", "pat") or bool(
        _SECRET_KEY.search(name) or _RANDOM.fullmatch(value)
    )


def names_strongly(name: str) -> bool:
    if _has_any(name, _INNOCENT_PARTS):
        name = _INNOCENT_NAME.sub("", name)
    return _has_any(name, _STRONG_PARTS) and bool(_SECRET_NAME.search(name))


def names_one(name: str) -> bool:
    return names_strongly(name) or bool(_last_word(name))


def _last_word(name: str) -> re.Match[str] | None:
    return _LAST_WORD.search(name) if _may_end_a_name(name) else None


def _may_end_a_name(text: str) -> bool:
    """Whether a weak word may stand where no letter follows: not in `path` or `patches`."""
    if has_lookalikes(text):
        return True
    small = text.lower()
    return any(not after[:1].isalpha() for part in _WEAK_PARTS for after in small.split(part)[1:])


def _has_any(text: str, parts: tuple[str, ...]) -> bool:
    """Whether one may be in it."""
    return has_lookalikes(text) or any(map(text.lower().__contains__, parts))


def has_lookalikes(text: str) -> bool:
    """Whether a pattern may match it that no part of the text in lower case announces. The blocks
    of a curve are not ASCII either, and are in most of what is shown.
    """
    return not text.isascii() and any(map(text.__contains__, _LOOKALIKES))


def is_pass_number(name: str, value: int) -> bool:
    """A number under a name like `password` may be one; under any other name it is a count, an id
    or a size.
    """
    return bool(re.search(r"passw|passphrase|secret", name, re.IGNORECASE)) and abs(value) > 999
