"""The library's functions for experiment scripts: what the commands do, from Python."""

from os import PathLike
from pathlib import Path

from herorun.core.contract import Contract, ContractFile
from herorun.core.errors import Blocked, WrongUse
from herorun.operations.launch.launch import LaunchOutcome, launch as _launch
from herorun.operations.launch.preflight import PreflightOutcome, preflight as _preflight
from herorun.operations.seal.seal import SealOutcome, seal as _seal
from herorun.runs import MAX_CONTRACT_BYTES, Run, open_run
from herorun.system.files import read_regular, write_atomic
from herorun.system.git import find_repository


def load(path: str | PathLike[str]) -> Contract:
    """Read a contract file; `path` is relative to where the program runs. `WrongUse` names the
    wrong key and how to fix it.
    """
    from herorun.core.contract import parse_contract

    try:
        text = read_regular(Path(path), MAX_CONTRACT_BYTES).decode()
    except OSError as error:
        raise WrongUse(
            f"The contract {path} cannot be read: {error.strerror}. `herorun init RUN` writes a "
            "new one."
        ) from None
    except UnicodeDecodeError:
        raise WrongUse(f"The contract {path} cannot be read: it is not UTF-8 text.") from None
    return parse_contract(text, str(path))


def preflight(contract: Contract, start: str | PathLike[str] = ".") -> PreflightOutcome:
    """Run the launch checks. This only reads, and returns the findings whether the gate is clear or
    not.

    `start` is a folder of the clone that the plan is made from.

    `.raise_if_blocked()` raises `Blocked` if a finding is open, and `CouldNotLook` if required
    evidence could not be read. The call itself raises `WrongUse` outside a repository, and if the
    contract asks a back end for something that it cannot do.
    """
    return _preflight(_run_of_contract(contract, Path(start)))


def launch(
    contract: Contract, start: str | PathLike[str] = ".", *, babysit: bool = True, adopt: str = ""
) -> LaunchOutcome:
    """Launch through the gate, and start the babysitter. The contract must be committed in
    `runs/<slug>.toml`.

    `start` is a folder of the clone. With `babysit=False` nothing monitors the run until you start
    `herorun babysit`. A gate that is not clear raises nothing: `.launched` is None,
    `.preflight` says why, and `.exit_code` is that of the command. With `adopt`, the id of a
    running job, nothing is submitted and that job is taken over.

    A contract that was built in Python is first written to that file; then `Blocked` is raised:
    commit the file, and call it again. A file with other content is never overwritten: `Blocked`
    says so. `CouldNotLook`
    means that it is unknown whether the job was submitted: launch again, and it is submitted once.
    """
    run = _run_of_contract(contract, Path(start))
    path = run.repository.top / contract.path
    if run.file.text == "":
        if path.exists():
            raise Blocked(
                f"{path} says something else than the contract of this program. Launch what the "
                "file says (`herorun.load`), or bring the two together and commit the file."
            )
        import tomli_w

        write_atomic(path, tomli_w.dumps(contract.data_for_toml()).encode(), 0o644)
        raise Blocked(
            f"The contract was written to {path}: commit and push this file, then launch again."
        )
    return _launch(run, babysit=babysit, adopt=adopt)


def seal(contract: Contract, start: str | PathLike[str] = ".") -> SealOutcome:
    """Run the seal checks, then tag, push and announce the run. Sealing twice gives one seal.

    `start` is a folder of the clone. If a finding is open, `.tag` is None and `.report` has the
    findings. Raises `Blocked` if a seal of another kind has ended the run, and `CouldNotLook` if
    the checkpoint cannot be listed or the tag cannot be pushed.
    """
    return _seal(_run_of_contract(contract, Path(start)))


def _run_of_contract(contract: Contract, start: Path) -> Run:
    """The run of this contract; its file's text is empty if the file is missing or has other
    content.
    """
    repository = find_repository(start)
    path = repository.top / contract.path
    if path.exists():
        loaded_run = open_run(str(path), start)
        if loaded_run.contract == contract:
            return loaded_run
    return Run(repository=repository, contract=contract, file=ContractFile(contract.path, ""))
