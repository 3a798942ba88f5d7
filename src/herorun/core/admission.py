"""What was admitted, and whether what runs is that.

Standard library only, and light: this also runs inside the job, on every rank, before the training starts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
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
    config_digests: Mapping[str, str | None] | None = None  # file -> digest, None: missing
    config: Mapping[str, Any] | None = None  # the resolved config, where the script passes it
    output_root: str | None = None
    tracker_id: str | None = None
    loaded: str | None = None  # the checkpoint it loaded; None: it started from scratch
    loaded_said: bool = False  # whether the script said what it loaded
    files: Mapping[str, str | None] = {}  # code file -> digest
    files_seen: int = 0
    files_total: int = 0


def compare(admission: Mapping[str, Any], presented: Presented) -> list[Item]:
    """Item by item. What cannot be seen is said; only a difference fails."""
    return [
        _argv(admission, presented),
        _files("config", admission.get("config_digests", {}), presented.config_digests),
        _config(admission, presented),
        _text("output-root", admission.get("output_root"), presented.output_root),
        _text("tracker-id", admission.get("tracker_id"), presented.tracker_id),
        _start(admission, presented),
        _code(admission, presented),
    ]


def refused(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.outcome == FAIL]


def _argv(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted, shown = list(admission.get("argv", ())), presented.argv
    if shown is None:
        return Item("argv", UNSEEN, "the command line could not be read")
    arguments = _arguments(shown)
    if list(shown) == wanted or arguments == _arguments(wanted) or _is_tail(arguments, wanted):
        return Item("argv", PASS, "as admitted")
    if not _is_python(wanted):
        return Item(
            "argv",
            UNSEEN,
            f"started through {wanted[0] if wanted else 'nothing'}; this process runs {arguments}",
        )
    return Item("argv", FAIL, f"runs {list(shown)}, admitted {wanted}")


def _is_python(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rsplit("/", 1)[-1].startswith("python")


def _arguments(argv: Sequence[str]) -> list[str]:
    """What follows the interpreter: its path may differ from machine to machine."""
    return list(argv[1:]) if _is_python(argv) else list(argv)


def _is_tail(arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    """Behind a launcher (torchrun, srun) the script and its arguments are the end of what was admitted."""
    return bool(arguments) and not _is_python(wanted) and list(wanted[-len(arguments) :]) == list(arguments)


def _files(item: str, wanted: Mapping[str, str], shown: Mapping[str, str | None] | None) -> Item:
    if shown is None:
        return Item(item, UNSEEN, "the files could not be read")
    wrong = [name for name in sorted(wanted) if shown.get(name) != wanted[name]]
    if wrong:
        return Item(item, FAIL, f"differs from what was admitted: {', '.join(wrong[:5])}")
    return Item(item, PASS, f"{len(wanted)} as admitted")


def _config(admission: Mapping[str, Any], presented: Presented) -> Item:
    if presented.config is None:
        return Item("resolved-config", UNSEEN, "the script did not pass it")
    wanted = flatten(admission.get("config", {}))
    shown = flatten(presented.config)
    wrong = sorted(key for key in wanted.keys() & shown.keys() if not _same(wanted[key], shown[key]))
    if wrong:
        said = "; ".join(f"{key} is {shown[key]!r}, admitted {wanted[key]!r}" for key in wrong[:5])
        return Item("resolved-config", FAIL, said)
    unshown = len(wanted.keys() - shown.keys())
    return Item("resolved-config", PASS, f"{len(wanted) - unshown} keys as admitted, {unshown} not shown")


def _same(wanted: Any, shown: Any) -> bool:
    return bool(_as_json(wanted) == _as_json(shown))


def _as_json(value: Any) -> Any:
    """As the admission's JSON holds it: non-finite numbers, times and paths as text, tuples as lists."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    return value.isoformat() if hasattr(value, "isoformat") else value


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
    wanted = admission.get("files", {})
    wrong = sorted(name for name, digest in presented.files.items() if wanted.get(name) != digest)
    if wrong:
        return Item(
            "code", FAIL, f"differs from commit {admission.get('commit', '?')[:9]}: {', '.join(wrong[:5])}"
        )
    seen = f"{presented.files_seen} of {presented.files_total} files as admitted"
    return Item("code", PASS if presented.files_seen else UNSEEN, seen)


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
