"""What was admitted, and whether what runs is that.

Standard library only, and light: this also runs inside the job, on every rank, before the training starts.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

PASS, FAIL, UNSEEN = "pass", "fail", "unknown"
SCHEMA = 1


class Item(NamedTuple):
    """One comparison: what, how it came out, and both values in words."""

    item: str
    outcome: str
    message: str


class Presented(NamedTuple):
    """What the running job shows of itself. None: it does not show it."""

    argv: Sequence[str] | None = None
    main: bool = False  # whether this is the very process that was submitted, and not one that it started
    config_digests: Mapping[str, str | None] | None = None  # file -> digest, None: missing
    config: Any = None  # the resolved config, where the script passes it: tables, or objects that hold them
    output_root: str | None = None
    tracker_id: str | None = None
    loaded: str | None = None  # the checkpoint it loaded; None: it started from scratch
    loaded_said: bool = False  # whether the script said what it loaded
    files: Mapping[str, str | None] = {}  # code file -> digest
    files_seen: int = 0
    files_total: int = 0
    unread: Mapping[str, str] = {}  # config and code files that could not be read -> why
    modules_seen: int = 0  # first-party modules that are loaded
    modules_elsewhere: Mapping[str, str] = {}  # those from outside the admitted tree -> their file
    packages: Mapping[str, str | None] | None = None  # admitted package -> version here, None: not installed


def compare(admission: Mapping[str, Any], presented: Presented) -> list[Item]:
    """Item by item. What cannot be seen is said; only a difference fails."""
    return [
        _argv(admission, presented),
        _files(admission, presented),
        _config(admission, presented),
        _text("output-root", admission.get("output_root"), presented.output_root),
        _text("tracker-id", admission.get("tracker_id"), presented.tracker_id),
        _start(admission, presented),
        _code(admission, presented),
        _modules(admission, presented),
        *_packages(admission, presented),
    ]


def refused(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.outcome == FAIL]


def _argv(admission: Mapping[str, Any], presented: Presented) -> Item:
    """A launcher's workers run another command line, so only the submitted process itself can differ."""
    wanted, shown = list(admission.get("argv") or ()), presented.argv
    if shown is None:
        return Item("argv", UNSEEN, "the command line could not be read")
    arguments = _arguments(shown)
    if _same(shown, wanted) or _same(arguments, _arguments(wanted)):
        return Item("argv", PASS, "as admitted")
    if presented.main and _is_python(wanted):
        return Item("argv", FAIL, f"runs {_told(shown, wanted)}, admitted {_told(wanted, wanted)}")
    if _is_tail(arguments, wanted):
        return Item("argv", PASS, "the end of what was admitted, behind its launcher")
    said = f"this process runs {_told(shown, wanted)}, started by what was admitted: {_told(wanted, wanted)}"
    return Item("argv", UNSEEN, said)


def _same(shown: Sequence[str], wanted: Sequence[str]) -> bool:
    """Word by word; of a secret that somebody signed for, the admission has the digest."""
    return len(shown) == len(wanted) and all(
        sealed(word) == other if other.startswith(_SEALED) else word == other
        for word, other in zip(shown, wanted, strict=True)
    )


def _told(argv: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """A command line for people: where a secret was admitted, that word goes, and in another line all unknown ones."""
    if not any(word.startswith(_SEALED) for word in wanted):
        return list(argv)
    if len(argv) == len(wanted):
        return [
            _HIDDEN if other.startswith(_SEALED) else word for word, other in zip(argv, wanted, strict=True)
        ]
    return [word if word in wanted else _HIDDEN for word in argv]


def _is_python(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rsplit("/", 1)[-1].startswith("python")


def _arguments(argv: Sequence[str]) -> list[str]:
    """What follows the interpreter: its path may differ from machine to machine."""
    return list(argv[1:]) if _is_python(argv) else list(argv)


def _is_tail(arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    """Behind a launcher (torchrun, srun) the script and its arguments are the end of what was admitted."""
    script = list(arguments[1:] if arguments[:1] == ["-u"] else arguments)  # torchrun adds it
    return bool(script) and _same(script, wanted[-len(script) :])


def _files(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted, shown = admission.get("config_digests") or {}, presented.config_digests
    if shown is None:
        return Item("config", UNSEEN, "the files could not be read")
    unread = {name: why for name, why in presented.unread.items() if name in wanted}
    wrong = [name for name in sorted(wanted) if name not in unread and shown.get(name) != wanted[name]]
    if wrong:
        return Item("config", FAIL, f"differs from what was admitted: {', '.join(wrong[:5])}")
    if unread:
        return Item("config", UNSEEN, _could_not(unread))
    return Item("config", PASS, f"{len(wanted)} as admitted")


def _could_not(unread: Mapping[str, str]) -> str:
    said = "; ".join(f"{name}: {why}" for name, why in sorted(unread.items())[:5])
    return f"{len(unread)} could not be read: {said}"


# --- the resolved config ------------------------------------------------------------------------------

_NOTHING = object()  # the script does not show it


class _Opaque(Exception):
    """A value that is neither plain nor a table, such as a function: it cannot be compared."""


def _config(admission: Mapping[str, Any], presented: Presented) -> Item:
    """Key by key, whatever kind of object the script holds its config in."""
    if presented.config is None:
        return Item("resolved-config", UNSEEN, "the script did not pass it")
    try:
        found = [
            (key, *_outcome(*pair)) for key, *pair in _pairs(_admitted_config(admission), presented.config)
        ]
    except Exception as error:  # the script's own objects may raise anything; it is no difference
        return Item("resolved-config", UNSEEN, f"{_kind(presented.config)} could not be read: {error!r}")
    by = {
        word: [(key, said) for key, outcome, said in found if outcome == word]
        for word in (PASS, FAIL, UNSEEN)
    }
    opaque = "".join(f"; {key} is {said}, which cannot be compared" for key, said in by[UNSEEN][:5])
    if by[FAIL]:
        return Item("resolved-config", FAIL, "; ".join(f"{key} {said}" for key, said in by[FAIL][:5]))
    if not by[PASS]:
        return Item("resolved-config", UNSEEN, f"no key in common with what was admitted{opaque}")
    unshown = len(found) - len(by[PASS]) - len(by[UNSEEN])
    return Item("resolved-config", PASS, f"{len(by[PASS])} keys as admitted, {unshown} not shown{opaque}")


def _admitted_config(admission: Mapping[str, Any]) -> Mapping[str, Any]:
    return admission.get("config") or {}


def _pairs(wanted: Mapping[str, Any], shown: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each admitted leaf: its dotted key, its value, and what is shown for it. Only what was admitted is read."""
    table = _table(shown)
    if table is None and at:
        yield at.rstrip("."), wanted, shown
    if table is None:
        return
    for key, value in wanted.items():
        found = table.get(key, _NOTHING)
        if isinstance(value, Mapping) and value:
            below = {name[len(key) + 1 :]: v for name, v in table.items() if name.startswith(f"{key}.")}
            yield from _pairs(value, below if found is _NOTHING else found, f"{at}{key}.")
        else:
            yield f"{at}{key}", value, found


def _table(value: Any) -> dict[str, Any] | None:
    """What holds named values, as a table: a mapping, a dataclass, a namespace, a model. None: it is a value."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if _is_value(value):
        return None
    if isinstance(value, Mapping) or callable(getattr(type(value), "items", None)):
        return {str(key): item for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__ if hasattr(value, name)}
    held = getattr(value, "__dict__", None)
    return {key: item for key, item in held.items() if not key.startswith("_")} if held is not None else None


def _is_value(value: Any) -> bool:
    plain = value is None or isinstance(value, (bool, int, float, str, bytes, list, tuple, set, type))
    return plain or _is_enum(value) or any(hasattr(value, name) for name in _OF_VALUES)


_OF_VALUES = ("__fspath__", "isoformat", "tolist", "__code__")  # of paths, times, arrays and functions


def _is_enum(value: Any) -> bool:
    return hasattr(type(value), "__members__")


def _outcome(wanted: Any, shown: Any) -> tuple[str, str]:
    if shown is _NOTHING:
        return "", ""
    try:
        plain = _plain(shown, wanted)
    except Exception:  # the script's own objects may raise anything
        return UNSEEN, f"a {_kind(shown)}"
    if wanted == {} and isinstance(plain, Mapping):
        return "", ""
    if isinstance(wanted, str) and wanted.startswith(_SEALED):
        return (PASS, "") if sealed(plain) == wanted else (FAIL, "is not the secret that was admitted")
    return (PASS, "") if _equal(wanted, plain) else (FAIL, f"is {_short(plain)}, admitted {_short(wanted)}")


_HIDDEN = "[scrubbed]"
_SEALED = f"{_HIDDEN} sha256:"


def sealed(value: Any) -> str:
    """What an admission keeps of a secret: enough to tell whether another is shown."""
    return _SEALED + hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()


def _kind(value: Any) -> str:
    return type(value).__name__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _plain(value: Any, like: Any = None) -> Any:
    """As the admission's JSON holds it: non-finite numbers, times and paths as text, tuples as lists.

    Where `like` is a table, an object is one too, and only what was admitted is read of it.
    """
    if isinstance(like, Mapping) and (table := _table(value)) is not None:
        return {key: _plain(table[key], item) if key in table else item for key, item in like.items()}
    if _is_enum(value):
        return like if str(like).lower() == value.name.lower() else _plain(value.value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "__fspath__"):
        alike = isinstance(like, str) and type(value)(like) == value  # a Path drops a last slash
        return like if alike else value.__fspath__()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(_from_array(value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        alike = like if isinstance(like, list) and len(like) == len(value) else [None] * len(value)
        return [_plain(item, other) for item, other in zip(value, alike, strict=True)]
    raise _Opaque


def _from_array(value: Any) -> Any:
    """An array as lists; a single number as its shortest text says, because float32's 0.1 is not Python's."""
    found = value.tolist()
    try:
        return float(str(value)) if isinstance(found, float) else found
    except ValueError:
        return found


def _equal(wanted: Any, shown: Any) -> bool:
    """Equal as values: 1 is 1.0, `1e-3` is 0.001 because YAML reads that as text, and true is not 1."""
    if isinstance(wanted, Mapping) and isinstance(shown, Mapping):
        return wanted.keys() == shown.keys() and all(_equal(wanted[key], shown[key]) for key in wanted)
    if isinstance(wanted, (list, tuple)) and isinstance(shown, (list, tuple)):
        return len(wanted) == len(shown) and all(map(_equal, wanted, shown))
    if isinstance(wanted, bool) or isinstance(shown, bool):
        return wanted is shown
    if isinstance(wanted, str) and isinstance(shown, (int, float)):
        return _number(wanted) == shown
    return bool(_plain(wanted) == shown)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# --- where it writes, reports and starts --------------------------------------------------------------


def _text(item: str, wanted: Any, shown: str | None) -> Item:
    if shown is None or wanted is None:
        return Item(item, UNSEEN, "not shown" if shown is None else "not in the admission")
    if str(shown).rstrip("/") == str(wanted).rstrip("/"):
        return Item(item, PASS, "as admitted")
    return Item(item, FAIL, f"is {shown}, admitted {wanted}")


def _start(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted = admission.get("start")
    if not presented.loaded_said:
        return Item("start", UNSEEN, "the script did not say what it loaded")
    if presented.loaded is None:
        if wanted is None:
            return Item("start", PASS, "from scratch")
        return Item("start", FAIL, f"loaded nothing, admitted to start from {wanted}")
    if wanted is None:
        return Item("start", FAIL, f"loaded {presented.loaded}, admitted to start from scratch")
    return _text("start", wanted, presented.loaded)


def _code(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted = admission.get("files") or {}
    wrong = sorted(name for name, digest in presented.files.items() if wanted.get(name) != digest)
    if wrong:
        return Item(
            "code", FAIL, f"differs from commit {admission.get('commit', '?')[:9]}: {', '.join(wrong[:5])}"
        )
    unread = {name: why for name, why in presented.unread.items() if name in wanted}
    same = presented.files_seen - len(unread)
    seen = f"{same} of {presented.files_total} files as admitted"
    if unread:
        return Item("code", UNSEEN, f"{seen}; {_could_not(unread)}")
    return Item("code", PASS if same else UNSEEN, seen)


def _modules(admission: Mapping[str, Any], presented: Presented) -> Item:
    """An editable install of the user's checkout is the commonest way to run other code than was reviewed."""
    wrong = presented.modules_elsewhere
    if wrong:
        told = "; ".join(f"{name} from {file}" for name, file in sorted(wrong.items())[:5])
        why = f"not imported from the admitted tree {admission.get('code')}: {told}"
        return Item("modules", FAIL, f"{why} (an editable install, or PYTHONPATH?)")
    if not presented.modules_seen:
        return Item("modules", UNSEEN, "none of the run's own is imported yet")
    return Item("modules", PASS, f"{presented.modules_seen} of the run's own, all from the admitted tree")


def _packages(admission: Mapping[str, Any], presented: Presented) -> list[Item]:
    """Exact versions only: what a range allows cannot be told with the standard library alone."""
    wanted = admission.get("packages") or {}
    if not wanted:
        return []
    found = presented.packages
    if found is None:
        return [Item("packages", UNSEEN, "the installed packages could not be read")]
    wrong = [
        f"{name} is {found.get(name) or 'not installed'}, admitted {version}"
        for name, version in sorted(wanted.items())
        if not _same_version(found.get(name), version)
    ]
    if wrong:
        return [Item("packages", FAIL, "; ".join(wrong[:5]))]
    return [Item("packages", PASS, f"{len(wanted)} as admitted")]


def _same_version(found: str | None, wanted: str) -> bool:
    """As `==` compares: 1.2 is 1.2.0, and a local part such as +cu121 counts only where it is asked for."""
    if found is None:
        return False
    here = found if "+" in wanted else found.partition("+")[0]
    return _shortest(here) == _shortest(wanted)


def _shortest(version: str) -> str:
    head, plus, local = version.lower().removeprefix("v").partition("+")
    while head.endswith(".0"):
        head = head[:-2]
    return head + plus + local
