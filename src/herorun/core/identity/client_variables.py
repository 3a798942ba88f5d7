"""A variable of the tracker's client against what the contract states."""


def same_server(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")


def describe_unstated_key(key: str) -> str:
    """Where the contract leaves open what decides where the run reports."""
    return f"and [tracker] states no {key}: state it there, or unset the variable"


def contradiction(key: str, contract_value: str) -> str:
    return f"and [tracker] says {key} = {contract_value!r}: unset it"
