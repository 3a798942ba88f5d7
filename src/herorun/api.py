"""The library's functions for experiment scripts: what the commands do, from Python."""

from os import PathLike
from pathlib import Path

from herorun.core.contract import Contract, ContractFile
from herorun.core.errors import Blocked, WrongUse
from herorun.operations.launch.launch import LaunchOutcome
from herorun.operations.launch.launch import launch as _launch
from herorun.operations.launch.preflight import PreflightOutcome
from herorun.operations.launch.preflight import preflight as _preflight
from herorun.operations.seal.seal import SealOutcome
from herorun.operations.seal.seal import seal as _seal
from herorun.runs import Run, open_run
from herorun.system.files import write_whole
from herorun.system.git import find_repository


def load(path: str | PathLike[str]) -> Contract:
    """Read a contract file; `path` is relative to where the program runs. `WrongUse` names the wrong key and how to fix it."""
    from herorun.core.contract import parse_contract

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise WrongUse(
            f"The contract {path} cannot be read: {error.strerror}. `herorun init RUN` writes a "
            "new one."
        ) from None
    except UnicodeDecodeError:
        raise WrongUse(f"The contract {path} cannot be read: it is not UTF-8 text.") from None
    return parse_contract(text, str(path))


def preflight(contract: Contract, start: str | PathLike[str] = ".") -> PreflightOutcome:
    """Ask the launch gate. Only reads: what was found, clear or not, is in the answer.

    `start` is a folder of the clone that the plan is made from.

    `.raise_if_blocked()` raises `Blocked` where a finding is open, and `CouldNotLook` where something that must be
    known could not be seen. The call itself raises `WrongUse` outside a repository and for what a back end cannot do.
    """
    return _preflight(_run_of_contract(contract, Path(start)))


def launch(
    contract: Contract, start: str | PathLike[str] = ".", *, babysit: bool = True, adopt: str = ""
) -> LaunchOutcome:
    """Launch through the gate, and start the babysitter. The contract must stand, committed, in `runs/<slug>.toml`.

    `start` is a folder of the clone. Without `babysit` nobody watches until `herorun babysit` does. A gate that is not
    clear raises nothing: `.launched` is None then, and `.preflight` says why; `.exit_code` is that of the command.

    With `adopt`, the id of a job that runs already, nothing is submitted and that job is taken over.

    One that was built in Python is written there first, and `Blocked` asks to commit it: nobody can review what is
    in no commit. A file that says something else is never overwritten: `Blocked` says so. `CouldNotLook` where the job's
    fate is not known: launch again, there is one submission.
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

        write_whole(path, tomli_w.dumps(contract.data_for_toml()).encode(), 0o644)
        raise Blocked(
            f"The contract was written to {path}: commit and push this file, then launch again."
        )
    return _launch(run, babysit=babysit, adopt=adopt)


def seal(contract: Contract, start: str | PathLike[str] = ".") -> SealOutcome:
    """Ask the seal gate; then state, tag, push and tell. Sealing twice is one seal.

    `start` is a folder of the clone. Where a finding is open, `.tag` is None and `.report` has the findings.
    `Blocked` where another seal has ended the run, `CouldNotLook` where the checkpoint cannot be listed or the tag not pushed.
    """
    return _seal(_run_of_contract(contract, Path(start)))


def _run_of_contract(contract: Contract, start: Path) -> Run:
    """The run of this contract; its file's text is empty where the file is missing or says something else."""
    repository = find_repository(start)
    path = repository.top / contract.path
    if path.exists():
        opened = open_run(str(path), start)
        if opened.contract == contract:
            return opened
    return Run(repository, contract, ContractFile(contract.path, ""))
