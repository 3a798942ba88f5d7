"""Clusters by their short names: our table, and `clusters.toml` in the user's configuration folder
over it.
"""

import os
import shlex
from dataclasses import replace
from pathlib import Path

from herorun.core.adhoc_jobs.clusters import read_table, resolve
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import WrongUse

RAY_RUN = "lib/marin/src/marin/run/ray_run.py"


def table_file() -> Path:
    """`$XDG_CONFIG_HOME/herorun/clusters.toml`, or `~/.config/herorun/clusters.toml`."""
    told = os.environ.get("XDG_CONFIG_HOME", "")
    return (
        (Path(told) if told.startswith("/") else Path.home() / ".config")
        / "herorun"
        / "clusters.toml"
    )


def read_clusters(kind: str) -> dict[str, str]:
    path = table_file()
    try:
        return read_table(path.read_text("utf-8"), str(path), kind)
    except FileNotFoundError:
        return read_table("", str(path), kind)
    except UnicodeDecodeError:
        raise WrongUse(f"{path} is not UTF-8 text: save it as UTF-8.") from None


def address_of(cluster: str) -> str:
    """A Ray cluster's dashboard."""
    return resolve(cluster, read_clusters("ray"), str(table_file()), "ray")


def with_experiment(facts: JobSpec) -> JobSpec:
    """Of a Ray job its experiment is the command that submits it again: by the submitter of the
    seed's repository if the folder has it, otherwise by Ray's own.
    """
    if facts.kind != "ray" or not facts.experiment or not facts.cluster or facts.resubmit:
        return facts
    facts = replace(facts, names_no_command=False)
    program = ["--", "python", facts.experiment]
    if (Path(facts.cwd or ".") / RAY_RUN).is_file():
        argv = ["uv", "run", RAY_RUN, "--no_wait", "--cluster", facts.cluster, *program]
    else:
        where = ["--address", address_of(facts.cluster), "--no-wait", "--working-dir", "."]
        argv = ["ray", "job", "submit", *where, *program]
    return replace(facts, resubmit=shlex.join(argv))


def with_config(facts: JobSpec, start: Path) -> JobSpec:
    """Of an Iris job the configuration file, from `--config` or a cluster's short name; it must be
    there.
    """
    if facts.kind != "iris" or not (facts.config or facts.cluster):
        return facts
    told = resolve(facts.config or facts.cluster, read_clusters("iris"), str(table_file()))
    path = (start / told).resolve()
    if not path.is_file():
        raise WrongUse(
            f"There is no {path}, the configuration of the Iris cluster: give it by --config PATH."
        )
    return replace(facts, config=str(path))
