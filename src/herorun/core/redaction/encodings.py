"""Secrets in encoded form: base64, hexadecimal digits, `%41`.

A run of such characters is decoded, and masked as a whole if the decoded text holds a secret.
Weights, digests and paths in the same characters do not decode to text.
"""

import base64
import binascii
import re
from collections.abc import Callable

from herorun.core.lazy_regex import lazy_regex

# `base64` breaks its lines at 76 characters, mail and PEM at 64: of one text each line alone may
# say too little.
_BLOCK = lazy_regex(r"(?:[A-Za-z0-9+/]{60,76}(?:\r?\n|(?:\\r)?\\n)\s*+)+[A-Za-z0-9+/]{4,76}={0,2}")
_RUN = lazy_regex(r"[A-Za-z0-9+/_-]{12,}+={0,2}")
_PERCENT = lazy_regex(r"(?<![^\s\"'<>])[^\s\"'<>%]*+%[0-9A-Fa-f]{2}[^\s\"'<>]*+")
_BYTE = lazy_regex(r"%([2-7][0-9A-Fa-f]|0[9AaDd])")
_READ = {"7F": "%7F", "09": "\\t", "0A": "\\n", "0D": "\\r"}  # what a reader is shown of these
_HEX = lazy_regex(r"(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,}")
_LOGIN = lazy_regex(r"[\w.@+$-]{1,64}:[!-~]{3,}")
_PADDING = {0: "", 2: "==", 3: "="}
_MIN_LOGIN_LENGTH = 16
MAX_DEPTH = 3  # a text in a text in a text

# What sets a terminal's colours, also as `repr` and JSON write it.
_COLOUR = lazy_regex(r"(?:\x1b|\\++(?:x1[bB]|u001[bB]|033|e))\[[0-9;:?]*[A-Za-z]")

Scrub = Callable[[str], str]


def mask_coded(text: str, mask: str, scrub: Scrub) -> str:
    """The text with every run masked that says, once read, something that `scrub` would change."""

    def masked(match: re.Match[str]) -> str:
        texts = [*_from_base64(match[0]), *_from_hex(match[0])]
        return mask if any(_is_secret_text(each, match[0], scrub) for each in texts) else match[0]

    if "\n" in text or "\\n" in text:
        text = _BLOCK.sub(masked, text)
    return _RUN.sub(masked, text)


def read_percent(text: str, scrub: Scrub) -> str:
    """The text with `%41` read where that shows a secret, and with that secret masked."""

    def read(match: re.Match[str]) -> str:
        plain_text = _BYTE.sub(
            lambda byte: _READ.get(byte[1].upper()) or chr(int(byte[1], 16)), match[0]
        )
        clean = scrub(plain_text) if plain_text != match[0] else plain_text
        return clean if clean != plain_text else match[0]

    return _PERCENT.sub(read, text) if "%" in text else text


def read_colours(text: str, scrub: Scrub) -> str:
    """The text without its colours where that shows a secret, and with that secret masked."""
    plain = _COLOUR.sub("", text) if "[" in text else text
    if plain == text:
        return text
    clean = scrub(plain)
    return clean if clean != plain else text


def _is_secret_text(text: str, run: str, scrub: Scrub) -> bool:
    is_login = len(run) >= _MIN_LOGIN_LENGTH and _LOGIN.fullmatch(text.strip())
    return bool(is_login) or scrub(text) != text


def _from_base64(run: str) -> list[str]:
    flat = re.sub(r"\\r|\\n|\s", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    padding = _PADDING.get(len(flat) % 4)
    if padding is None:
        return []
    return _as_text(lambda: base64.b64decode(flat + padding, validate=True))


def _from_hex(run: str) -> list[str]:
    return _as_text(lambda: bytes.fromhex(run)) if _HEX.fullmatch(run) else []


def _as_text(read_bytes: Callable[[], bytes]) -> list[str]:
    try:
        text = read_bytes().decode()
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [text] if all(c.isprintable() or c in "\n\r\t" for c in text) else []
