"""Secrets by their own shape.

One row a kind: how it begins, and what must follow. The begins are the issuers' own, made to be
recognised.
"""

import re
from functools import cache
from itertools import chain

from herorun.core.lazy_regex import lazy_regex

_WORD = r"[A-Za-z0-9]"
_URLSAFE = r"[A-Za-z0-9_-]"
# A capital, or digits and letters in turn. Without this the name of a run or a folder, such as
# `sk-moe-30b-long-context`, reads as a key, and all its instances become one.
_MIXED_CASE = (
    r"(?=[a-z0-9_-]{0,80}(?:[A-Z]|(?:[0-9]{1,9}[a-z]{1,9}){3}[0-9]))"
    rf"{_URLSAFE}"
)
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LONG = rf"(?:{_WORD}{{20,}}|(?=[a-z]*[0-9]){_WORD}{{16,}}|{_UUID})"  # longer than a word of a name

_ROWS: tuple[tuple[str, str], ...] = (
    # where code and packages are kept
    ("ghp_ gho_ ghu_ ghs_ ghr_", rf"{_URLSAFE}{{20,}}(?:\.{_URLSAFE}{{10,}})*"),
    ("github_pat_", r"[A-Za-z0-9_]{20,}"),
    (
        "glpat- gldt- glft- glsoat- gloas- glrt- glptt- glcbt- glimt- glagent- glffct-",
        rf"{_URLSAFE}{{18,}}",
    ),
    ("npm_", rf"{_WORD}{{30,}}"),
    ("pypi-AgE", rf"{_URLSAFE}{{40,}}"),
    ("dckr_pat_ dckr_oat_", rf"{_URLSAFE}{{20,}}"),
    ("rubygems_", r"[0-9a-f]{40,}"),
    ("AKCp", rf"{_WORD}{{60,}}"),
    # models, tracking and notebooks
    ("wandb_v0_ wandb_v1_ wandb_v2_", r"[A-Za-z0-9_-]{20,}"),
    ("hf_jwt_ hf_oauth_", r"eyJ[A-Za-z0-9_.-]{20,}"),
    ("hf_ api_org_", rf"{_WORD}{{20,}}"),
    (
        "sk-",
        rf"(?:{_MIXED_CASE}{{20,}}|(?:[a-z0-9]{{1,8}}-){{0,3}}{_LONG}{_URLSAFE}*)",
    ),
    ("sk-helicone-", rf"{_URLSAFE}{{20,}}"),
    ("sess-", rf"(?=[a-z0-9]*[A-Z]){_WORD}{{40}}(?![A-Za-z0-9])"),
    ("gsk_ csk- fw_ rpa_", rf"{_WORD}{{36,}}"),
    ("fw_", rf"(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z]){_WORD}{{22,}}(?![\w])"),
    ("tgp_v1_ nvapi-", rf"{_URLSAFE}{{32,}}"),
    ("xai- pplx-", rf"(?:{_MIXED_CASE}{{32,}}|{_WORD}{{32,}})"),
    ("r8_", rf"{_WORD}{{30,}}"),
    ("lsv2_pt_ lsv2_sk_", r"[0-9a-f_]{32,}"),
    # clouds
    ("AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    # what temporary credentials begin with: a token of the session in base64
    ("IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/]{50,}={0,2}"),
    ("ABSK", r"[A-Za-z0-9+/]{80,}={0,2}"),
    ("AIza", rf"{_URLSAFE}{{30,}}"),
    ("AQ.Ab", rf"{_URLSAFE}{{30,}}"),
    ("GOOG1", r"[A-Z0-9]{19,}(?![A-Za-z0-9])"),
    ("ya29.", r"[A-Za-z0-9_.-]{20,}"),
    ("GOCSPX-", rf"{_URLSAFE}{{20,}}"),
    ("1//0", rf"{_URLSAFE}{{30,}}"),
    ("dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("doo_v1_ dop_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    ("pul-", r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    ("hvs. hvb. hvr.", rf"{_URLSAFE}{{20,}}"),
    ("tskey-", rf"{_URLSAFE}{{20,}}"),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{20,}"),
    ("pnu_", r"[a-z0-9]{30,}"),
    ("nfp_ figd_ ntn_ lin_api_", rf"{_URLSAFE}{{30,}}"),
    ("dp.pt. dp.st. dp.ct. dp.sa.", r"[A-Za-z0-9.]{30,}"),
    ("glsa_ sntrys_ sntryu_", r"[A-Za-z0-9_+/=-]{32,}"),
    ("glc_eyJ", r"[A-Za-z0-9+/=]{30,}"),
    ("ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{50,}"),
    ("NRAK- PMAK-", r"[A-Za-z0-9-]{24,}"),
    ("AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}"),
    # people's channels and payments
    ("xoxe.xox", r"[a-z]-[A-Za-z0-9-]{10,}"),
    ("xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs-", r"[A-Za-z0-9%-]{10,}"),
    ("xoxd-", r"[A-Za-z0-9%+/=_-]{10,}"),
    ("xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    ("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,}"),
    ("SG.", rf"{_URLSAFE}{{16,64}}\.{_URLSAFE}{{30,}}"),
    ("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("sq0atp- sq0csp- sq0idp-", rf"{_URLSAFE}{{20,}}"),
)
_JWT = (  # a JWT: what it says in base64 and its signature, with points between
    r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[nrt]eyJ))"
    rf"{_URLSAFE}{{10,}}+\.(?:eyJ{_URLSAFE}{{5,}}+\.?{_URLSAFE}*+|{_URLSAFE}{{10,}}+\.{_URLSAFE}{{5,}}+|\.{_URLSAFE}{{5,}}+\.{_URLSAFE}{{5,}}+)(?:\.{_URLSAFE}*+)*"
)

_PRIVATE = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}"
# A word that ends a line, and what begins the next one if it reads like the rest of a key: no word,
# date or path does. It begins where the word does, so that a long line is not
# tried from each character.
_WRAPPED_KEY = lazy_regex(
    r"(?<![\w.-])[\w.-]{4,}+(?:\r?\n(?=[\w.-]*\d)(?=[\w.-]*[a-z])(?=[\w.-]*[A-Z])[\w.-]{6,}+(?=[\s\"']|\Z)){1,60}"
)


def _prefixed_pattern(start: str, tail: str) -> str:
    """The literal first, which is found fast; then that no word runs into it, but for an escaped
    end of line.
    """
    literal = re.escape(start)
    return rf"{literal}(?:(?<![A-Za-z0-9]{literal})|(?<=\\[nrt]{literal})){tail}"


# (what must stand in the text for the pattern to be tried at all, the pattern)
_SHAPES: tuple[tuple[str, str], ...] = (
    (
        "PRIVATE KEY",
        rf"-{{4,5}} ?BEGIN {_PRIVATE}(?s:.*?)(?:-{{4,5}} ?END {_PRIVATE}|\Z)",
    ),
    (  # the rest of one that a log was cut in
        "PRIVATE KEY",
        rf"(?:(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{{16,80}}+(?:\s|\\++[nr]){{1,4}}){{1,64}}-{{4,5}} ?END {_PRIVATE}",  # noqa: E501  # one pattern
    ),
    ("PuTTY-User-Key", r"PuTTY-User-Key-File-\d:(?s:.*?)(?:Private-MAC: *[0-9a-f]*|\Z)"),
    *chain.from_iterable(
        ((start, _prefixed_pattern(start, tail)) for start in row.split()) for row, tail in _ROWS
    ),
    ("eyJ", _JWT),
    ("Q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    (".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}"),
    (":AA", rf"(?<![0-9A-Za-z:])\d{{8,10}}:AA{_URLSAFE}{{30,}}"),
    ("-us", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    ("SK", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    # a bot of Discord: an id in base64, a time, and a signature
    (
        ".",
        rf"(?<![A-Za-z0-9_.-])[MNO]{_URLSAFE}{{23,27}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,38}}(?![\w.-])",
    ),
)


@cache
def _compile_shape(shape: str) -> re.Pattern[str]:
    """When it is first needed: all of them take longer than most commands have to say."""
    return re.compile(shape)


def mask_shapes(text: str, mask: str) -> str:
    for hint, shape in _SHAPES:
        if hint in text:
            text = _compile_shape(shape).sub(mask, text)
    return text


def mask_wrapped(text: str, mask: str) -> str:
    """The same for a secret that a line was broken in: each of its parts goes, the lines stay."""

    def masked(match: re.Match[str]) -> str:
        rows = match[0].splitlines()
        start, end = _span("".join(rows), len(rows[0]))
        out, at = list[str](), 0
        for row in rows:
            is_secret = at < end and start < at + len(row)
            out.append(row[: max(0, start - at)] + mask if is_secret else row)
            at += len(row)
        return "\n".join(out)

    return _WRAPPED_KEY.sub(masked, text) if "\n" in text else text


def _span(text: str, border: int) -> tuple[int, int]:
    """Where in some joined rows a secret stands that continues after the first of them; `(0, 0)`
    without one.
    """
    spans = (
        match.span()
        for hint, shape in _SHAPES
        if hint in text
        for match in _compile_shape(shape).finditer(text)
    )
    return next((span for span in spans if span[0] < border < span[1]), (0, 0))


def has_shape(text: str) -> bool:
    return any(hint in text and _compile_shape(shape).search(text) for hint, shape in _SHAPES)
