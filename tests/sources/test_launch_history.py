"""What the record holds of another run's launches."""

import pytest

from builders import a_contract
from herorun.core.evidence import Unavailable
from herorun.runs.launch_history import source_launches, source_run
from herorun.system.git import Repository


@pytest.mark.parametrize("slug", ["base; rm -rf ~", "../heads/main", "Base", "$(id)"])
def test_no_command_and_no_ref_holds_a_name_that_no_run_can_have(tmp_path, slug: str) -> None:
    contract = a_contract(start={"from": "/data/base/step-3", "source_run": slug})
    nowhere = Repository(tmp_path, tmp_path)  # is never read

    for evidence in (source_run(nowhere, contract), source_launches(nowhere, contract)):
        assert isinstance(evidence, Unavailable) and "fetch" not in evidence.why
