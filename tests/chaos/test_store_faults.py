"""A run whose checkpoints lie in an object store that fails in every way that one can: refused,
busy, silent, a listing cut short, a checkpoint half-written.

What could not be read is neither healthy nor gone, and starts nothing.
"""

import json
import os
import signal
import uuid

import pytest

from herorun.schedulers._instance import StartedProcess, decode_record
from herorun.stores._fsspec import Requests
from services.servers import Service
from stories import SLUG, WAIT, Story, eventually
from wording import mentions

pytestmark = [pytest.mark.thorough, pytest.mark.back_end]

CUT = {
    "gs": '{"kind": "storage#objects", "items": [{"name": "tiny/out/step-2/met',
    "s3": "<ListBucketResult><Contents><Key>tiny/out/step-2/met",
}
FAULTS = {"gs": ("refused", "busy", "silent", "cut"), "s3": ("busy", "cut")}


def _fault(scheme: str, name: str) -> dict[str, object]:
    match name:
        case "refused":
            return {"status": 403}
        case "busy":
            return {"status": 503}
        case "silent":
            return {"sleep": 4.0, "status": 503}
        case _:
            return {"status": 200, "body": CUT[scheme]}


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds after which a call is given up; a test cannot wait for the usual twenty."""
    seconds, begin = [20.0], Requests.__init__
    monkeypatch.setattr(
        Requests,
        "__init__",
        lambda self, path, deadline, words=None: begin(self, path, seconds[0], words),
    )
    return seconds


def _save(server: Service, bucket: str, step: int, whole: bool = True) -> None:
    marker = {"step": step, "timestamp": "2026-01-01T00:00:00", "is_temporary": False}
    files = {f"tiny/out/step-{step}/weights": "weights"}
    if whole:
        files[f"tiny/out/step-{step}/metadata.json"] = json.dumps(marker)
    server.tell("fill", bucket=bucket, files=files)


@pytest.mark.parametrize("scheme", ["gs", "s3"])
def test_a_store_that_fails_makes_nothing_healthy_and_starts_nothing(
    story: Story,
    scheme: str,
    deadline: list[float],
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server: Service = request.getfixturevalue({"gs": "gcs", "s3": "s3"}[scheme])
    bucket, receipt = f"b{uuid.uuid4().hex}", {"attempt": 1, "outcome": "pass", "items": []}
    server.tell("bucket", name=bucket)
    root = f"{scheme}://{bucket}/tiny/out"
    story.sign(
        output={"root": root, "temporary_root": f"{root}-temporary"},
        tracker={"path": str(story.root / "metrics.jsonl")},
    )
    story.run_first_job(WAIT)
    name = "tiny/out/_herorun/receipts/tiny-1.1.json"
    server.tell("fill", bucket=bucket, files={name: json.dumps({"instance": "tiny-1", **receipt})})
    _save(server, bucket, 2)
    assert story.tick() == 0, capsys.readouterr()

    for fault in FAULTS[scheme]:
        server.fault(url=bucket, **_fault(scheme, fault))
        deadline[0] = 1.0
        capsys.readouterr()
        code, output = story.tick(), capsys.readouterr().out
        server.heal()
        assert code == 3 and mentions(output, "unknown", "partly read"), (fault, output)
    deadline[0] = 20.0
    assert story.tick() == 0, capsys.readouterr()

    _save(server, bucket, 4, whole=False)
    start_record = decode_record(
        StartedProcess, (story.jobs / "tiny-1" / "started.json").read_text()
    )
    os.killpg(start_record.pid, signal.SIGKILL)
    story.wait_for_end()
    server.fault(url=bucket, status=403)
    assert story.tick() != 0
    assert len(story.starts) == 1  # which checkpoint is the newest, nobody can say
    server.heal()
    story.tick()
    eventually(lambda: len(story.starts) == 2)
    assert story.starts[1] == f"tiny-2 {root}/step-2", SLUG
