"""The newest complete checkpoint among 5,000 on an object store, in requests and seconds; compared
with a naive glob.

The servers stand on this machine and answer at once: what a request costs elsewhere comes on top
for each of them.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.services.servers import Service, running

from benchmarks.timing import Row, in_turns
from herorun import adapters
from herorun.core.contract import Contract, contract_from
from herorun.core.evidence import FinalStep, History
from herorun.core.ports import Layout, Place
from herorun.sources.checkpoints import read_checkpoints
from herorun.store_router import RoutedStore

FOLDERS, FILES = 5000, 20
FEW = 250  # where a glob asks once a folder, of which it does all
ROUNDS = 3
BUCKET = "checkpoints"
SERVERS = {"gs": ("gcs_server", "STORAGE_EMULATOR_HOST"), "s3": ("s3_server", "AWS_ENDPOINT_URL")}


def rows(home: Path) -> Iterator[Row]:
    os.environ.update(AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing")
    for scheme, (name, variable) in SERVERS.items():
        with running(name) as server:
            os.environ[variable] = server.url
            for bucket, folders in ((f"{BUCKET}-{FEW}", FEW), (f"{BUCKET}-{FOLDERS}", FOLDERS)):
                server.tell("bucket", name=bucket)
                server.tell("fill", bucket=bucket, files=checkpoints(folders))
            yield measure_store(server, scheme)


def checkpoints(folders: int) -> dict[str, str]:
    """A long run's own: marked last, as the trainer does."""
    files = {}
    for number in range(folders):
        step = (number + 1) * 100
        marker = {"step": step, "timestamp": "2026-01-01T12:00:00", "is_temporary": False}
        files[f"run/step-{step}/metadata.json"] = json.dumps(marker)
        files[f"run/step-{step}/manifest.json"] = "{}"
        files |= {f"run/step-{step}/d/{part:05}": "" for part in range(FILES - 2)}
    return files


def measure_store(server: Service, scheme: str) -> Row:
    ours, folder_count = finder(scheme), FOLDERS if scheme == "gs" else FEW
    seconds = in_turns({"ours": ours}, ROUNDS)["ours"]
    requests = count_requests(server, ours)
    began = perf_counter()
    alternative = count_requests(
        server, lambda: glob(scheme, folder_count)
    )  # once: it takes a while
    return Row(
        f"the newest complete of {FOLDERS:,} on {scheme}://: {requests} requests",
        seconds,
        f"`glob('*/metadata.json')` among {folder_count:,}, none of them read: "
        f"{alternative:,} requests",
        perf_counter() - began,
    )


def finder(scheme: str) -> Callable[[], object]:
    root = f"{scheme}://{BUCKET}-{FOLDERS}/run"
    place, contract = Place("tiny", "state", root, "."), a_contract(root)
    store = RoutedStore(place)
    layout: Layout = adapters.connect("stores.layouts", "levanter", {}, place)

    def find() -> None:
        checkpoints = read_checkpoints(contract, store, layout, History(), FinalStep(None))
        newest = checkpoints.newest
        assert newest and newest.step == FOLDERS * 100 and len(checkpoints.candidates) == FOLDERS

    return find


def glob(scheme: str, folders: int) -> None:
    paths = client(scheme).glob(f"{scheme}://{BUCKET}-{folders}/run/*/metadata.json")
    assert max(int(path.split("/")[-2].removeprefix("step-")) for path in paths) == folders * 100


def client(scheme: str) -> Any:
    import fsspec

    return fsspec.filesystem(
        scheme, skip_instance_cache=True, **({"token": "anon"} if scheme == "gs" else {})
    )


def a_contract(root: str) -> Contract:
    table = {"slug": "tiny", "command": {"argv": ["train"]}, "output": {"root": root}}
    return contract_from(table, "benchmarks")


def count_requests(server: Service, act: Callable[[], object]) -> int:
    server.requests()
    act()
    return len(server.requests())
