"""What is wrong with a resubmit command, found before it is needed at night. Pure.

Source: the babysitting loop for Iris that herorun was asked to cover.
"""

import shlex

from herorun.core.errors import WrongUse

_ACCELERATORS = ("tpu", "gpu")


def words_of(command: str) -> list[str]:
    """`WrongUse` for a command that no shell could read."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise WrongUse(
            f"--resubmit cannot be read as a command ({error}): correct its quotes."
        ) from None
    if not words:
        raise WrongUse(
            "--resubmit is empty: give the whole command, or leave it away to watch only."
        )
    return words


def must_return(kind: str, command: str) -> None:
    """`WrongUse` for a command that waits for the job's end: nothing would be watched meanwhile."""
    words = words_of(command)
    own = words[: words.index("--")] if "--" in words else words
    flags = {word.partition("=")[0].replace("_", "-") for word in own}
    if kind in ("iris", "ray") and "--no-wait" not in flags:
        raise WrongUse(
            "The resubmit command has no --no-wait before `--`, so it would wait for the job's "
            f"end: add it, and give it again ({command})."
        )
    if kind == "slurm" and ("srun" in own or ("sbatch" in own and flags & {"--wait", "-W"})):
        raise WrongUse(
            f"The resubmit command waits for the job's end: use sbatch without --wait ({command})."
        )


def notices(kind: str, command: str) -> list[str]:
    """What may well be meant, and mostly is not: a sentence each."""
    if kind != "iris" or not command:
        return []
    words = words_of(command)
    own = words[: words.index("--")] if "--" in words else words
    told = _collect_flags(own)
    return [*_extras(told), *_reservation(told), *_note_fixed_name(told)]


def _collect_flags(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            follows = (
                words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("--") else ""
            )
            found.setdefault(name.removeprefix("--"), []).append(value if equals else follows)
    return found


def _extras(told: dict[str, list[str]]) -> list[str]:
    """An extra that names another device than the one that is attached."""
    asked = [name for name in _ACCELERATORS if name in told]
    devices = [extra.rpartition(":")[2] for extra in told.get("extra", ()) if ":" in extra]
    said = []
    for device in devices:
        if asked and device in ("cpu", *_ACCELERATORS) and device not in asked:
            said.append(
                f"--extra ...:{device} installs the packages for {device}, and the job asks for "
                f"--{asked[0]}: use the extra for {asked[0]}."
            )
        if not asked and device in _ACCELERATORS:
            said.append(
                f"--extra ...:{device} installs the packages for {device}, and no --{device} "
                f"attaches one: add --{device} <variant>."
            )
    return said


def _reservation(told: dict[str, list[str]]) -> list[str]:
    if "reserve" not in told or any(name in told for name in _ACCELERATORS):
        return []
    variant = told["reserve"][0] or "<variant>"
    return [
        (
            f"--reserve {variant} only holds capacity and attaches no device to the job: add "
            "--tpu or --gpu with the variant."
        )
    ]


def _note_fixed_name(told: dict[str, list[str]]) -> list[str]:
    if "job-name" not in told:
        return []
    return [
        (
            f"--job-name {told['job-name'][0]} is fixed: Iris may replace the ended job and use "
            "its id again, so the new job is told from the old one by its time of submission."
        )
    ]
