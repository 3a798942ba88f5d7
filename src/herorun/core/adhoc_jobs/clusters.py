"""Clusters by their short names, and the configuration file or address of each: a table that the
user can add to. Pure.
"""

import tomllib
from collections.abc import Mapping

from herorun.core.errors import WrongUse


def read_table(text: str, where: str, kind: str, ours: Mapping[str, str]) -> dict[str, str]:
    """The user's table of a scheduler, such as `[iris]`, over ours; `WrongUse` for anything else.

    >>> read_table('[iris]\\nmine = "/etc/iris/mine.yaml"', "clusters.toml", "iris", {})["mine"]
    '/etc/iris/mine.yaml'
    """
    try:
        clusters = tomllib.loads(text).get(kind, {})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongUse(
            f"{where} is not valid TOML ({error}): correct it, or move it away."
        ) from None
    if not isinstance(clusters, dict) or not all(
        isinstance(value, str) and value for value in clusters.values()
    ):
        raise WrongUse(
            f'{where} must hold a table [{kind}] with lines such as marin = "path/of/marin.yaml".'
        )
    return {**ours, **{_normalise_cluster(name): value for name, value in clusters.items()}}


def resolve(name: str, table: Mapping[str, str], where: str, kind: str, instead: str) -> str:
    """What the table has for a short name, written with `-` or `_`; a path or address stays what it
    is. `instead` is what a person can give in place of a name.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name
    cluster_path = {_normalise_cluster(short_name): path for short_name, path in table.items()}.get(
        _normalise_cluster(name)
    )
    if cluster_path is None:
        raise WrongUse(
            f"{name!r} is not a known cluster "
            f"(known here: {', '.join(sorted(table)) or 'none'}): give {instead}, or add it to "
            f"[{kind}] in {where}."
        )
    return cluster_path


def _normalise_cluster(name: str) -> str:
    return name.strip().lower().replace("-", "_")
