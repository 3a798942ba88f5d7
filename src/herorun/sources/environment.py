"""Which variables of the launching shell reach the training, and which the training code reads."""

import os
from pathlib import Path

from herorun.core.admission import is_salted
from herorun.core.code.environment_reads import environment_reads
from herorun.core.contract import Contract
from herorun.core.environment import from_shell, is_set_elsewhere
from herorun.core.evidence import (
    CodeFlags,
    Environment,
    Flag,
    ImportClosure,
    Nothing,
    PriorLaunch,
    Unavailable,
)
from herorun.core.ports import Scheduler, scheduler_traits
from herorun.core.redaction.scrub import scrub_tree
from herorun.system.files import read_regular
from herorun.system.git import Repository

MAX_BYTES = 16 << 20  # bytes of one file: a larger one is data


def read_environment(
    contract: Contract, scheduler: Scheduler, prior: PriorLaunch | Nothing | Unavailable
) -> Environment:
    """The variables of this shell that trainers read. A secret is only compared with the recorded
    digest of its last value.
    """
    secrets = contract.command.secrets
    traits = scheduler_traits(scheduler)
    is_local = traits.reach == "here"
    values, withheld_values = from_shell(os.environ, secrets, traits.sets, is_local)
    salted_secrets = prior.secrets if isinstance(prior, PriorLaunch) else {}
    changed_names = (
        name
        for name in secrets
        if name in salted_secrets
        and name in os.environ
        and not is_salted(os.environ[name], salted_secrets[name])
    )
    return Environment(values, withheld_values, tuple(changed_names))


def read_code_flags(
    repository: Repository, closure: ImportClosure, scheduler: Scheduler
) -> CodeFlags:
    """The variables that the command's files and imports read, except those that machines and
    launchers set.
    """
    flags: dict[str, Flag] = {}
    computed_places: list[str] = []
    sets = scheduler_traits(scheduler).sets
    for path in sorted(closure.files):
        reads = environment_reads(path, _read_file_or_empty(Path(repository.top, path)))
        for name, line in reads.names:
            if not is_set_elsewhere(name, sets):
                flags.setdefault(name, Flag(name, path, line))
        computed_places += [f"{path}:{line}" for line in reads.computed]
    set_values = {name: os.environ[name] for name in sorted(flags) if name in os.environ}
    return CodeFlags(
        tuple(flags[name] for name in sorted(flags)), scrub_tree(set_values), tuple(computed_places)
    )


def _read_file_or_empty(path: Path) -> bytes:
    """The content; empty if it is not a readable file: the import closure reports unreadable
    ones.
    """
    try:
        return read_regular(path, MAX_BYTES)
    except OSError:
        return b""
