"""What a contract makes this machine run, and whether a person has trusted this repository with
it.
"""

from collections.abc import Iterator
from pathlib import Path

from herorun import adapter_declarations
from herorun.core.contract import Contract
from herorun.core.errors import WrongUse
from herorun.core.once_per_object import once_per_object
from herorun.core.trust import config_item
from herorun.system.git import Repository
from herorun.system.user_trust import describe_missing_trust, untrusted_items


def describe_untrusted(
    contract: Contract, repository: Repository, items: tuple[str, ...] | None = None
) -> str:
    """Why nothing of the contract is run; empty where a person trusted all that it names, or it
    names nothing.

    `WrongUse` where no trust helps: a configuration of ssh that comes with the repository runs what
    it likes. `items` are `all_items` of the contract, where the caller has them.
    """
    must_be_the_users(contract, repository)
    missing = list_untrusted(contract, repository, items)
    return describe_missing_trust(contract.slug, missing) if missing else ""


def list_untrusted(
    contract: Contract, repository: Repository, items: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """The items that a person has to trust first."""
    items = all_items(contract) if items is None else items
    return untrusted_items(repository.main, items)


@once_per_object
def all_items(contract: Contract) -> tuple[str, ...]:
    """What a person must trust: tables whose adapter can run a program or send a credential."""
    return tuple(_items(contract))


def _items(contract: Contract) -> Iterator[str]:
    for table, port in (
        ("scheduler", "schedulers"),
        ("tracker", "trackers"),
        ("issue", "notifiers"),
    ):
        section = getattr(contract, table)
        yield from adapter_declarations.trust_items(table, port, section.kind, section.options)
    yield from config_item(contract)


def must_be_the_users(contract: Contract, repository: Repository) -> None:
    ssh_config = contract.scheduler.options.get("ssh_config")
    if not isinstance(ssh_config, str) or not ssh_config:
        return
    path = Path(repository.top, Path(ssh_config).expanduser()).resolve()
    tops = [repository.top.resolve(), repository.main.resolve()]
    if any(path.is_relative_to(top) for top in tops):
        raise WrongUse(
            f"[scheduler] ssh_config = {ssh_config!r} lies inside the repository, where its "
            "ProxyCommand could run anything: "
            "keep it outside, such as ~/.ssh/config, and name it by its absolute path."
        )
