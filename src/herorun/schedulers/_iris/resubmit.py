"""Warns about parts of an Iris submission command that are rarely intended. Pure.

Source: the babysitting loop for Iris that herorun was asked to cover.
"""

from herorun.core.adhoc_jobs.resubmit_command import submitter_argv

_ACCELERATORS = ("tpu", "gpu")


def iris_notices(command: str) -> list[str]:
    """The warnings, one sentence each."""
    flags = _collect_flags(submitter_argv(command))
    return [*_extras(flags), *_reservation(flags), *_note_fixed_name(flags)]


def _collect_flags(argv: list[str]) -> dict[str, list[str]]:
    flags: dict[str, list[str]] = {}
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            follows = (
                argv[at + 1] if at + 1 < len(argv) and not argv[at + 1].startswith("--") else ""
            )
            flags.setdefault(name.removeprefix("--"), []).append(value if equals else follows)
    return flags


def _extras(flags: dict[str, list[str]]) -> list[str]:
    """A warning about an extra for another device than the requested one."""
    flag_names = [name for name in _ACCELERATORS if name in flags]
    devices = [extra.rpartition(":")[2] for extra in flags.get("extra", ()) if ":" in extra]
    notices = []
    for device in devices:
        if flag_names and device in ("cpu", *_ACCELERATORS) and device not in flag_names:
            notices.append(
                f"--extra ...:{device} installs the packages for {device}, but the job asks for "
                f"--{flag_names[0]}: use the extra for {flag_names[0]}."
            )
        if not flag_names and device in _ACCELERATORS:
            notices.append(
                f"--extra ...:{device} installs the packages for {device}, but no --{device} "
                f"attaches one: add --{device} <variant>."
            )
    return notices


def _reservation(flags: dict[str, list[str]]) -> list[str]:
    if "reserve" not in flags or any(name in flags for name in _ACCELERATORS):
        return []
    variant = flags["reserve"][0] or "<variant>"
    return [
        (
            f"--reserve {variant} only reserves capacity and attaches no device to the job: add "
            "--tpu or --gpu with the variant."
        )
    ]


def _note_fixed_name(flags: dict[str, list[str]]) -> list[str]:
    if "job-name" not in flags:
        return []
    return [
        (
            f"--job-name {flags['job-name'][0]} is fixed: Iris may replace the ended job and use "
            "its id again, so only the time of submission distinguishes the two."
        )
    ]
