"""Clusters by their short names: an adapter's own table, and `clusters.toml` in the user's
configuration folder over it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from herorun.core.adhoc_jobs.clusters import read_table, resolve
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class ClusterNames:
    kind: str  # the table in `clusters.toml`
    ours: Mapping[str, str]
    instead: str  # what a person can state instead of a name

    def resolve(self, name: str) -> str:
        """The cluster of a name; `WrongUse` if neither table has it. A path or address is returned
        unchanged.
        """
        return resolve(name, self._table(), str(table_file()), self.kind, self.instead)

    def _table(self) -> dict[str, str]:
        path = table_file()
        try:
            return read_table(path.read_text("utf-8"), str(path), self.kind, self.ours)
        except FileNotFoundError:
            return dict(self.ours)
        except UnicodeDecodeError:
            raise WrongUse(f"{path} is not UTF-8 text: save it as UTF-8.") from None


def table_file() -> Path:
    """`$XDG_CONFIG_HOME/herorun/clusters.toml`, or `~/.config/herorun/clusters.toml`."""
    config_home = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(config_home) if config_home.startswith("/") else Path.home() / ".config"
    return folder / "herorun" / "clusters.toml"
