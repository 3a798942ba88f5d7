"""What every evidence source must do. A test file subclasses `SourceSuite` and names its evidence.

`read` asks one source as a gate does: found by its return type, fed by its parameters.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from herorun import discover
from herorun.core.evidence import Unavailable
from herorun.gather import gather


def read(kind: Any, inputs: Mapping[Any, Any]) -> Any:
    return gather([kind], discover.sources(), inputs)[kind]


class SourceSuite:
    kind: ClassVar[Any]  # the evidence type
    inputs: ClassVar[Mapping[Any, Any]]  # what it is read from, of a healthy run

    def test_a_machine_without_its_tools_makes_no_run_blind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "no tools"))
        answer = read(self.kind, self.inputs)
        assert not isinstance(answer, Unavailable), (
            f"{answer.why}: without the tool every run on such a machine is unknown; return Nothing"
        )
