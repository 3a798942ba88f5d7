"""A run's contract next to the one that its newest launch was admitted with."""

from dataclasses import replace

from herorun.core.contract import Contract, plan_part
from herorun.core.drift import differences
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import ContractDrift, Nothing, Unavailable
from herorun.core.redaction.scrub import scrub
from herorun.runs.launch_history import NOT_LAUNCHED, launched_contract, newest
from herorun.runs.run import Run


def admitted_contract(run: Run) -> Contract | None:
    """The contract at the commit of the newest launch; None before one."""
    launching = newest(run.record.memory())
    return launched_contract(run.repository, launching) if launching else None


def drift_from(
    run: Run, contract_at_launch: Contract | None, problem: str = ""
) -> ContractDrift | Nothing:
    """What differs between the run's contract and the admitted one, or why the file cannot be
    followed.
    """
    launching = newest(run.record.memory())
    if contract_at_launch is None or launching is None:
        return NOT_LAUNCHED
    return ContractDrift(
        launching.instance,
        _changed_tables(contract_at_launch, run.contract),
        scrub(problem),
    )


def _changed_tables(contract_at_launch: Contract, contract: Contract) -> tuple[str, ...]:
    if contract_at_launch is contract:  # most of the time: of one text there is one contract
        return ()
    return differences(plan_part(contract_at_launch), plan_part(contract))


def contract_drift(run: Run) -> ContractDrift | Nothing | Unavailable:
    """The same, for a run that uses the contract on disk."""
    try:
        return drift_from(run, admitted_contract(run))
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(describe_error(error)))


def replace_contract(run: Run, contract: Contract) -> Run:
    return Run(
        repository=run.repository, contract=contract, file=replace(run.file), drift=run.drift
    )
