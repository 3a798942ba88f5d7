"""A source is imported when its evidence is needed, and none is lost for it."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from herorun.core.evidence import Job, Metrics
from herorun.discover import module_names, sources
from herorun.source_index import SourceIndex, by_kind, evidence_names, sources_in

ONE = """
def read_jobs(
    scheduler: Scheduler, at: tuple[int, ...] = (1,)
) -> Job | Nothing:
    ...


def read_metrics(tracker: Tracker) -> Metrics:
    ...
"""


def test_the_index_has_every_source_that_the_files_define() -> None:
    modules = [import_module(f"herorun.sources.{name}") for name in module_names("herorun.sources")]
    everything = by_kind(item for module in modules for item in sources_in(module))
    index = sources()
    assert len(everything) > 50
    assert dict(index) == everything
    assert {kind: index[kind] for kind in everything} == everything
    assert int not in index


def test_the_text_of_every_source_tells_what_it_returns() -> None:
    folder = Path(import_module("herorun.sources").__path__[0])
    assert [f.name for f in folder.glob("*.py") if f.stem != "__init__" and _unclear(f)] == []


def _unclear(file: Path) -> bool:
    return evidence_names(file.read_text()) is None


def test_a_signature_tells_the_evidence() -> None:
    assert evidence_names(ONE) == ["Job", "Metrics"]
    assert evidence_names("import json\n") == []


def test_a_text_that_does_not_tell_is_not_taken_for_one_without_sources() -> None:
    assert evidence_names(f"{ONE}\nread_more = read_jobs\n") is None
    assert evidence_names("") is None


def test_only_the_files_of_the_evidence_are_loaded() -> None:
    loaded_files = []

    def load(name: str) -> ModuleType:
        loaded_files.append(name)
        return import_module(f"herorun.sources.{name}")

    texts = {"jobs": "def read_job() -> Job:", "metrics": "def read() -> Metrics:", "disks": ""}
    index = SourceIndex(texts, load)
    assert index[Job].__name__ == "read_job"
    assert loaded_files == ["jobs"]
    assert Metrics not in index  # no `read_...`; a file without a text is asked before that is said
    assert loaded_files == ["jobs", "disks"]


def test_looking_one_evidence_up_imports_its_file_alone() -> None:
    code = (
        "import sys; from herorun.discover import sources; "
        "from herorun.core.evidence import Disks; assert Disks in sources(); "
        "names = {n for n in sys.modules if n.startswith('herorun.sources.')}; "
        "assert names == {'herorun.sources.disks'}, names"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
