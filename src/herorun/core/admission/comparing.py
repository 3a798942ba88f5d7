"""Compares what a job reports about itself with its admission, item by item."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .environment import compare_environment
from .hardware import compare_hardware
from .items import FAIL, HIDDEN, PASS, SEALED, UNSEEN, Item, Presented, sealed


def compare(admission: Mapping[str, Any], presented: Presented) -> list[Item]:
    """Item by item. What cannot be seen is said; only a difference fails."""
    argv = _argv(admission, presented)
    return [
        argv,
        _compare_files(admission, presented),
        _config(admission, presented),
        _compare_text("output-root", admission.get("output_root"), presented.output_root),
        _compare_text("tracker-id", admission.get("tracker_id"), presented.tracker_id),
        _compare_start(admission, presented),
        _compare_code(admission, presented),
        _modules(admission, presented),
        *_packages(admission, presented),
        *_compare_environment(admission, presented, presented.main and argv.outcome == PASS),
        *compare_hardware(admission.get("hardware") or {}, presented.devices),
    ]


def _compare_environment(
    admission: Mapping[str, Any], presented: Presented, direct: bool
) -> list[Item]:
    """An admission of an earlier version holds none."""
    admitted = admission.get("environment")
    return (
        [] if admitted is None else [compare_environment(admitted, presented.environment, direct)]
    )


def refused(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.outcome == FAIL]


def _argv(admission: Mapping[str, Any], presented: Presented) -> Item:
    """A launcher's workers run another command line, so only the submitted process itself can
    differ.
    """
    wanted, shown = list(admission.get("argv") or ()), presented.argv
    if shown is None:
        return Item("argv", UNSEEN, "the command line could not be read")
    arguments = _arguments(shown)
    if _is_same_argv(shown, wanted) or _is_same_argv(arguments, _arguments(wanted)):
        return Item("argv", PASS, "as admitted")
    if presented.main and _is_python(wanted):
        return Item(
            "argv",
            FAIL,
            f"runs {_redact_argv(shown, wanted)}, admitted {_redact_argv(wanted, wanted)}",
        )
    if _is_tail(arguments, wanted):
        return Item("argv", PASS, "the end of what was admitted, behind its launcher")
    said = (
        f"this process runs {_redact_argv(shown, wanted)}, started by what was admitted: "
        f"{_redact_argv(wanted, wanted)}"
    )
    return Item("argv", UNSEEN, said)


def _is_same_argv(shown: Sequence[str], wanted: Sequence[str]) -> bool:
    """Word by word; of a secret that somebody signed for, the admission has the digest."""
    return len(shown) == len(wanted) and all(
        sealed(word) == other if other.startswith(SEALED) else word == other
        for word, other in zip(shown, wanted, strict=True)
    )


def _redact_argv(argv: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """A command line for people: where a secret was admitted, that word goes, and in another line
    all unknown ones.
    """
    if not any(word.startswith(SEALED) for word in wanted):
        return list(argv)
    if len(argv) == len(wanted):
        return [
            HIDDEN if other.startswith(SEALED) else word
            for word, other in zip(argv, wanted, strict=True)
        ]
    return [word if word in wanted else HIDDEN for word in argv]


def _is_python(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rsplit("/", 1)[-1].startswith("python")


def _arguments(argv: Sequence[str]) -> list[str]:
    """What follows the interpreter: its path may differ from machine to machine."""
    return list(argv[1:]) if _is_python(argv) else list(argv)


def _is_tail(arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    """Behind a launcher (torchrun, srun) the script and its arguments are the end of what was
    admitted.
    """
    script = list(arguments[1:] if arguments[:1] == ["-u"] else arguments)  # torchrun adds it
    return bool(script) and _is_same_argv(script, wanted[-len(script) :])


def _compare_files(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted, shown = admission.get("config_digests") or {}, presented.config_digests
    if shown is None:
        return Item("config", UNSEEN, "the files could not be read")
    unread = {name: why for name, why in presented.unread.items() if name in wanted}
    wrong = [
        name for name in sorted(wanted) if name not in unread and shown.get(name) != wanted[name]
    ]
    if wrong:
        return Item("config", FAIL, f"differs from what was admitted: {', '.join(wrong[:5])}")
    if unread:
        return Item("config", UNSEEN, _could_not(unread))
    return Item("config", PASS, f"{len(wanted)} as admitted")


def _could_not(unread: Mapping[str, str]) -> str:
    said = "; ".join(f"{name}: {why}" for name, why in sorted(unread.items())[:5])
    return f"{len(unread)} could not be read: {said}"


def _config(admission: Mapping[str, Any], presented: Presented) -> Item:
    if presented.config is None:
        return Item("resolved-config", UNSEEN, "the script did not pass it")
    from .config import compare_config

    return compare_config(admission.get("config") or {}, presented.config)


def _compare_text(item: str, wanted: Any, shown: str | None) -> Item:
    if shown is None or wanted is None:
        return Item(item, UNSEEN, "not shown" if shown is None else "not in the admission")
    if str(shown).rstrip("/") == str(wanted).rstrip("/"):
        return Item(item, PASS, "as admitted")
    return Item(item, FAIL, f"is {shown}, admitted {wanted}")


def _compare_start(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted = admission.get("start")
    if not presented.loaded_said:
        return Item("start", UNSEEN, "the script did not say what it loaded")
    if presented.loaded is None:
        if wanted is None:
            return Item("start", PASS, "from scratch")
        return Item("start", FAIL, f"loaded nothing, admitted to start from {wanted}")
    if wanted is None:
        return Item("start", FAIL, f"loaded {presented.loaded}, admitted to start from scratch")
    return _compare_text("start", wanted, presented.loaded)


def _compare_code(admission: Mapping[str, Any], presented: Presented) -> Item:
    wanted = admission.get("files") or {}
    wrong = sorted(name for name, digest in presented.files.items() if wanted.get(name) != digest)
    if wrong:
        return Item(
            "code",
            FAIL,
            f"differs from commit {admission.get('commit', '?')[:9]}: {', '.join(wrong[:5])}",
        )
    unread = {name: why for name, why in presented.unread.items() if name in wanted}
    same = presented.files_seen - len(unread)
    total = presented.files_total
    seen = f"{same} of {total} {'file' if total == 1 else 'files'} as admitted"
    if unread:
        return Item("code", UNSEEN, f"{seen}; {_could_not(unread)}")
    return Item("code", PASS if same else UNSEEN, seen)


def _modules(admission: Mapping[str, Any], presented: Presented) -> Item:
    """An editable install of the user's checkout is the commonest way to run other code than was
    reviewed.
    """
    wrong = presented.modules_elsewhere
    if wrong:
        told = "; ".join(f"{name} from {file}" for name, file in sorted(wrong.items())[:5])
        why = f"not imported from the admitted tree {admission.get('code')}: {told}"
        return Item("modules", FAIL, f"{why} (an editable install, or PYTHONPATH?)")
    if not presented.modules_seen:
        return Item("modules", UNSEEN, "none of the run's own is imported yet")
    return Item(
        "modules", PASS, f"{presented.modules_seen} of the run's own, all from the admitted tree"
    )


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
    """As `==` compares: 1.2 is 1.2.0, and a local part such as +cu121 counts only where it is asked
    for.
    """
    if found is None:
        return False
    here = found if "+" in wanted else found.partition("+")[0]
    return _shortest(here) == _shortest(wanted)


def _shortest(version: str) -> str:
    head, plus, local = version.lower().removeprefix("v").partition("+")
    while head.endswith(".0"):
        head = head[:-2]
    return head + plus + local
