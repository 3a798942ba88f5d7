"""Clusters by their short names, and the configuration file of each: a table that the user can add
to. Pure.

Source: the mappings of the babysitting loop for Iris that herorun was asked to cover.
"""

import tomllib
from collections.abc import Mapping

from herorun.core.errors import WrongUse

IRIS: Mapping[str, str] = {
    "marin": "lib/iris/examples/marin.yaml",
    "marin_prod": "lib/iris/examples/marin.yaml",
    "marin_dev": "lib/iris/examples/marin-dev.yaml",
    "coreweave": "lib/iris/examples/coreweave.yaml",
}


RAY: Mapping[str, str] = {}
OURS: Mapping[str, Mapping[str, str]] = {"iris": IRIS, "ray": RAY}


def read_table(text: str, where: str, kind: str = "iris") -> dict[str, str]:
    """The user's `[iris]` or `[ray]` table, over ours; `WrongUse` for anything else.

    >>> read_table('[iris]\\nmine = "/etc/iris/mine.yaml"', "clusters.toml")["mine"]
    '/etc/iris/mine.yaml'
    """
    try:
        told = tomllib.loads(text).get(kind, {})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongUse(
            f"{where} is not valid TOML ({error}): correct it, or move it away."
        ) from None
    if not isinstance(told, dict) or not all(
        isinstance(value, str) and value for value in told.values()
    ):
        raise WrongUse(
            f'{where} must hold a table [{kind}] with lines such as marin = "path/of/marin.yaml".'
        )
    return {**OURS[kind], **{_normalise_cluster(name): value for name, value in told.items()}}


def resolve(name: str, table: Mapping[str, str], where: str, kind: str = "iris") -> str:
    """The file, or for Ray the address, of a short name, written with `-` or `_`; a path or address
    stays what it is.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name
    found = {_normalise_cluster(known): path for known, path in table.items()}.get(
        _normalise_cluster(name)
    )
    if found is None:
        raise WrongUse(
            f"{name!r} is no cluster that is known here "
            f"({', '.join(sorted(table)) or 'none is'}): give {_INSTEAD[kind]}, or add it to "
            f"[{kind}] in {where}."
        )
    return found


_INSTEAD = {"iris": "--config PATH", "ray": "--cluster http://HOST:8265, its dashboard"}


def _normalise_cluster(name: str) -> str:
    return name.strip().lower().replace("-", "_")
