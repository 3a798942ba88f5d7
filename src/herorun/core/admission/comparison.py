"""Compares what a job reports about itself with its admission, item by item."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .environment import compare_environment
from .hardware import compare_hardware
from .items import DIGEST_PREFIX, FAIL, PASS, PLACEHOLDER, UNKNOWN, Item, JobFacts, digest_secret


def compare(admission: Mapping[str, Any], job_values: JobFacts) -> list[Item]:
    """The items, each with its result. What cannot be compared is unknown; only a difference
    fails.
    """
    argv = _argv(admission, job_values)
    return [
        argv,
        _compare_files(admission, job_values),
        _config(admission, job_values),
        _compare_text("output-root", admission.get("output_root"), job_values.output_root),
        _compare_text("tracker-id", admission.get("tracker_id"), job_values.tracker_id),
        _compare_start(admission, job_values),
        _compare_code(admission, job_values),
        _modules(admission, job_values),
        *_packages(admission, job_values),
        *_compare_environment(admission, job_values, job_values.main and argv.outcome == PASS),
        *compare_hardware(admission.get("hardware") or {}, job_values.devices),
    ]


def _compare_environment(
    admission: Mapping[str, Any], job_values: JobFacts, direct: bool
) -> list[Item]:
    """Compare the environment. An admission of an earlier version has none."""
    environment = admission.get("environment")
    return (
        []
        if environment is None
        else [compare_environment(environment, job_values.environment, direct)]
    )


def list_refused_items(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.outcome == FAIL]


def _argv(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    """Compare the command line. A launcher's workers have another one, so only the submitted
    process itself can fail.
    """
    admitted_argv, presented_argv = list(admission.get("argv") or ()), job_values.argv
    if presented_argv is None:
        return Item("argv", UNKNOWN, "the command line could not be read")
    arguments = _arguments(presented_argv)
    if _is_same_argv(presented_argv, admitted_argv) or _is_same_argv(
        arguments, _arguments(admitted_argv)
    ):
        return Item("argv", PASS, "as admitted")
    if job_values.main and _is_python(admitted_argv):
        return Item(
            "argv",
            FAIL,
            f"runs {_redact_argv(presented_argv, admitted_argv)}, but "
            f"{_redact_argv(admitted_argv, admitted_argv)} was admitted",
        )
    if _is_tail(arguments, admitted_argv):
        return Item("argv", PASS, "the end of what was admitted, behind its launcher")
    message = (
        f"this process runs {_redact_argv(presented_argv, admitted_argv)}, started by what was "
        "admitted: "
        f"{_redact_argv(admitted_argv, admitted_argv)}"
    )
    return Item("argv", UNKNOWN, message)


def _is_same_argv(argv: Sequence[str], admitted_argv: Sequence[str]) -> bool:
    """Whether the words are equal; for a secret that a person accepted, the admission has its
    digest.
    """
    return len(argv) == len(admitted_argv) and all(
        digest_secret(word) == other if other.startswith(DIGEST_PREFIX) else word == other
        for word, other in zip(argv, admitted_argv, strict=True)
    )


def _redact_argv(argv: Sequence[str], admitted_argv: Sequence[str]) -> list[str]:
    """The command line for people: an admitted secret is masked, and in a different command line
    all unknown words are.
    """
    if not any(word.startswith(DIGEST_PREFIX) for word in admitted_argv):
        return list(argv)
    if len(argv) == len(admitted_argv):
        return [
            PLACEHOLDER if other.startswith(DIGEST_PREFIX) else word
            for word, other in zip(argv, admitted_argv, strict=True)
        ]
    return [word if word in admitted_argv else PLACEHOLDER for word in argv]


def _is_python(argv: Sequence[str]) -> bool:
    return bool(argv) and argv[0].rsplit("/", 1)[-1].startswith("python")


def _arguments(argv: Sequence[str]) -> list[str]:
    """The arguments after the interpreter, whose path may differ between machines."""
    return list(argv[1:]) if _is_python(argv) else list(argv)


def _is_tail(arguments: Sequence[str], admitted_argv: Sequence[str]) -> bool:
    """Whether the arguments are the end of the admitted command line, as behind a launcher
    (torchrun, srun).
    """
    script = list(arguments[1:] if arguments[:1] == ["-u"] else arguments)  # torchrun adds it
    return bool(script) and _is_same_argv(script, admitted_argv[-len(script) :])


def _compare_files(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    admitted_digests, digests = admission.get("config_digests") or {}, job_values.config_digests
    if digests is None:
        return Item("config", UNKNOWN, "the files could not be read")
    unreadable = {name: why for name, why in job_values.unread.items() if name in admitted_digests}
    wrong = [
        name
        for name in sorted(admitted_digests)
        if name not in unreadable and digests.get(name) != admitted_digests[name]
    ]
    if wrong:
        return Item("config", FAIL, f"differs from what was admitted: {', '.join(wrong[:5])}")
    if unreadable:
        return Item("config", UNKNOWN, _could_not(unreadable))
    return Item("config", PASS, f"{len(admitted_digests)} as admitted")


def _could_not(unreadable: Mapping[str, str]) -> str:
    reasons = "; ".join(f"{name}: {why}" for name, why in sorted(unreadable.items())[:5])
    return f"{len(unreadable)} could not be read: {reasons}"


def _config(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    if job_values.config is None:
        return Item("resolved-config", UNKNOWN, "the script did not pass it")
    from .config import compare_config

    return compare_config(admission.get("config") or {}, job_values.config)


def _compare_text(item: str, admitted_value: Any, value: str | None) -> Item:
    if value is None or admitted_value is None:
        return Item(item, UNKNOWN, "not shown" if value is None else "not in the admission")
    if str(value).rstrip("/") == str(admitted_value).rstrip("/"):
        return Item(item, PASS, "as admitted")
    return Item(item, FAIL, f"is {value}, but {admitted_value} was admitted")


def _compare_start(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    admitted_start = admission.get("start")
    if not job_values.loaded_said:
        return Item("start", UNKNOWN, "the script did not say what it loaded")
    if job_values.loaded is None:
        if admitted_start is None:
            return Item("start", PASS, "from scratch")
        return Item(
            "start", FAIL, f"loaded nothing, but a start from {admitted_start} was admitted"
        )
    if admitted_start is None:
        return Item(
            "start", FAIL, f"loaded {job_values.loaded}, but a start from scratch was admitted"
        )
    return _compare_text("start", admitted_start, job_values.loaded)


def _compare_code(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    admitted_digests = admission.get("files") or {}
    wrong = sorted(
        name for name, digest in job_values.files.items() if admitted_digests.get(name) != digest
    )
    if wrong:
        return Item(
            "code",
            FAIL,
            f"differs from commit {admission.get('commit', '?')[:9]}: {', '.join(wrong[:5])}",
        )
    unreadable = {name: why for name, why in job_values.unread.items() if name in admitted_digests}
    same = job_values.files_seen - len(unreadable)
    total = job_values.files_total
    summary = f"{same} of {total} {'file' if total == 1 else 'files'} as admitted"
    if unreadable:
        return Item("code", UNKNOWN, f"{summary}; {_could_not(unreadable)}")
    return Item("code", PASS if same else UNKNOWN, summary)


def _modules(admission: Mapping[str, Any], job_values: JobFacts) -> Item:
    """Compare where modules come from. An editable install of the checkout is the most common way
    to run unreviewed code.
    """
    wrong = job_values.modules_elsewhere
    if wrong:
        origins = "; ".join(f"{name} from {file}" for name, file in sorted(wrong.items())[:5])
        why = f"not imported from the admitted tree {admission.get('code')}: {origins}"
        return Item("modules", FAIL, f"{why} (an editable install, or PYTHONPATH?)")
    if not job_values.modules_seen:
        return Item("modules", UNKNOWN, "none of the run's own is imported yet")
    return Item(
        "modules", PASS, f"{job_values.modules_seen} of the run's own, all from the admitted tree"
    )


def _packages(admission: Mapping[str, Any], job_values: JobFacts) -> list[Item]:
    """Compare packages, exact versions only: the standard library cannot evaluate ranges."""
    admitted_versions = admission.get("packages") or {}
    if not admitted_versions:
        return []
    installed_versions = job_values.packages
    if installed_versions is None:
        return [Item("packages", UNKNOWN, "the installed packages could not be read")]
    wrong = [
        f"{name} is {installed_versions.get(name) or 'not installed'}, but {version} was admitted"
        for name, version in sorted(admitted_versions.items())
        if not _same_version(installed_versions.get(name), version)
    ]
    if wrong:
        return [Item("packages", FAIL, "; ".join(wrong[:5]))]
    return [Item("packages", PASS, f"{len(admitted_versions)} as admitted")]


def _same_version(installed_version: str | None, admitted_version: str) -> bool:
    """Whether the versions are equal by the rule of `==`: 1.2 is 1.2.0, and a local part such as
    +cu121 counts only if the admitted version has one.
    """
    if installed_version is None:
        return False
    comparable = (
        installed_version if "+" in admitted_version else installed_version.partition("+")[0]
    )
    return _shortest(comparable) == _shortest(admitted_version)


def _shortest(version: str) -> str:
    head, plus, local = version.lower().removeprefix("v").partition("+")
    while head.endswith(".0"):
        head = head[:-2]
    return head + plus + local
