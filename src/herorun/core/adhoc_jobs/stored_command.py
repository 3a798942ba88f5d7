"""A resubmit command as it is stored: without a secret's value, and never changed on the way back.
Pure.

A secret is stored as `${NAME}` and looked up when the command runs. Arguments stay separate: a
shell runs the command only if the person wrote it for a shell.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

from herorun.core.errors import Blocked, WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.key_names import names_one
from herorun.core.redaction.scrub import MASK, scrub

_NAME_BEFORE = lazy_regex(r"([A-Za-z][A-Za-z0-9_-]*)[\"']?[\s=:,]{1,4}[\"']?$")
_MAX_SECRETS = 20  # secrets of one command
_MIN_LENGTH = 6  # characters: a shorter value in the environment is no secret's by chance
# What only a shell understands, outside of quotes. Brackets and braces are no such sign: Hydra and
# Iris take lists as `a=[1,2]`, which a shell would match against file names.
_SHELL = lazy_regex(r"[$`|&;<>()*?\n]|(?:^|\s)[~#]|^\s*\w+=")
_QUOTATION = lazy_regex(r"'[^']*'|\"[^\"$`]*\"")
_REFERENCE = lazy_regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
# Masked next to a secret, and none: a variable's name, and the scheme of `Authorization: Bearer
# ...`
_HARMLESS = lazy_regex(r"(?:(?:Bearer|Basic|Token)\s*)?(?:\$\{?\w+\}?)?", re.IGNORECASE)
_PLAIN = lazy_regex(r"[\w./+=:@%,-]+")


def without_secrets(command: str, env: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The command with `${NAME}` in place of each secret, and the values by their names.

    The name is the variable that holds the value now, or the one that the command writes before it.
    `WrongUse` for a secret that has none.

    >>> without_secrets("run -e WANDB_API_KEY 0a1b2c3d4e5f6a7b8c9d -- go", {})
    ('run -e WANDB_API_KEY ${WANDB_API_KEY} -- go', {'WANDB_API_KEY': '0a1b2c3d4e5f6a7b8c9d'})
    """
    values: dict[str, str] = {}
    for _ in range(_MAX_SECRETS):
        value = "" if MASK in command else _first_secret(command)
        if not value:
            return command, values
        before = command.partition(value)[0]
        name = _variable_of(value, env) or _name_before(before)
        if not name or values.get(name, value) != value:
            raise WrongUse(
                "The resubmit command holds a secret, and no variable has it: export it as a "
                "variable, and write '$NAME' in its place."
            )
        values[name] = value
        command = command.replace(value, f"${{{name}}}")
    raise WrongUse("The resubmit command holds too many secrets: put it into a script.")


def _first_secret(command: str) -> str:
    """The first that is masked and is a value; empty where there is none."""
    masked_command = scrub(command)
    if masked_command == command:
        return ""
    pattern = "(.+?)".join(map(re.escape, masked_command.split(MASK)))
    match = re.fullmatch(pattern, command, re.DOTALL)
    if match is None:
        raise WrongUse(
            "The resubmit command holds a secret: export it as a variable, and write '$NAME' in "
            "its place."
        )
    return next((each for each in match.groups() if not _HARMLESS.fullmatch(each)), "")


def _variable_of(value: str, env: Mapping[str, str]) -> str:
    names = sorted(
        n for n, env_value in env.items() if env_value == value and len(env_value) >= _MIN_LENGTH
    )
    return next((name for name in names if names_one(name)), names[0] if names else "")


def _name_before(text: str) -> str:
    name = _NAME_BEFORE.search(text)
    is_name = name is not None and names_one(name[1])
    return re.sub(r"[^A-Z0-9]", "_", name[1].lstrip("-").upper()) if name and is_name else ""


def missing_secrets(command: str, names: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """What the command cannot run without and is not set: the stored names, and every variable in
    it that is called like a secret.
    """
    references = _REFERENCE.findall(re.sub(r"'[^']*'", "", command))
    needed_names = [
        *names,
        *(name for name in references if names_one(name) and f"{name}=" not in command),
    ]
    return [name for name in dict.fromkeys(needed_names) if not env.get(name)]


def must_have_secrets(command: str, names: Sequence[str], env: Mapping[str, str]) -> None:
    """`Blocked` for a command that lacks a secret: it would run with something else there."""
    if MASK in command:
        raise Blocked(
            f"The resubmit command was stored without its secret ({MASK}), so it is not run: give "
            "it again with --resubmit."
        )
    if missing := missing_secrets(command, names, env):
        raise Blocked(
            f"The resubmit command needs {', '.join(missing)}, which the environment here does "
            "not have, so it is not run: export it, then repeat this command."
        )


def is_shell(command: str, names: Sequence[str] = ()) -> bool:
    """Whether a person wrote it for a shell.

    >>> is_shell("sbatch --wrap 'a && b' job.sh x=[1,2]"), is_shell("cd /w && sbatch job.sh")
    (False, True)
    """
    bare = _substitute_values(command, dict.fromkeys(names, "x"))
    return bool(_SHELL.search(_QUOTATION.sub("q", bare)))


def argv_of(command: str, names: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """What is executed. Of a shell's command a value that a shell would change stays a reference,
    which the shell looks up itself.
    """
    values = {name: env[name] for name in names}
    if not is_shell(command, names):
        return [_substitute_values(word, values) for word in shlex.split(command)]
    plain = {name: value for name, value in values.items() if _PLAIN.fullmatch(value)}
    return ["sh", "-c", _substitute_values(command, plain)]


def _substitute_values(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    return text
