"""The contract of jobs by id, as the other package tests its own adapter."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from herorun import adapters
from herorun.core.ports import ById, Place
from ports.by_id_suite import ByIdRig, ByIdSuite, script


def connect_to(folder: Path) -> ById:
    place = Place("tiny", str(folder), "/data/tiny", ".")
    return adapters.connect("schedulers.external", "theirs", {"folder": str(folder)}, place)


class TestSpool(ByIdSuite):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[ByIdRig]:
        processes: list[subprocess.Popen[bytes]] = []
        spool, no_folder = tmp_path / "spool", tmp_path / "file"
        spool.mkdir()
        no_folder.touch()

        def start() -> str:
            folder = spool / f"spool-{len(processes)}"
            folder.mkdir()
            line = f"({script(folder / 'go')}) > '{folder}/log'; echo $? > '{folder}/exit.new'"
            argv = ["sh", "-c", f"{line}; mv '{folder}/exit.new' '{folder}/exit'"]
            processes.append(subprocess.Popen(argv, start_new_session=True))
            (folder / "pid").write_text(str(processes[-1].pid))
            return folder.name

        def connect() -> ById:
            for process in processes:
                process.poll()  # one that has ended is there until its parent asks
            return connect_to(spool)

        yield ByIdRig(
            kind="theirs",
            connect=connect,
            blind=lambda: connect_to(no_folder),
            start=start,
            end=lambda job: (spool / job / "go").touch(),
            absent="spool-99",
            malformed_ids=("4711", "spool", "spool-x"),
        )
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its shell has a child
            process.wait(30)
