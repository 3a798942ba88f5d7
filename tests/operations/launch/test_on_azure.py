"""A run whose checkpoints lie in Azure's store, told by the real commands; the store is Azurite."""

import json
import threading
from typing import Any

import pytest

from herorun.core.errors import HerorunError
from herorun.core.record.lease import PATH, read_lease
from herorun.operations.record.lease import take_lease
from services.fixtures import AZURE_ACCOUNT, azure_connection
from services.servers import Service
from stores.test_azure import CONNECTION, WRONG_KEY, a_container, fill
from stories import SLUG, Story
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture
def on_azure(story: Story, azure: Service, capsys: CAPTURE) -> tuple[Story, str]:
    """A run that is begun, with one whole checkpoint, one that lacks its marker, and its lease."""
    root = f"abfs://{a_container(azure)}/tiny"
    rows = {"kind": "jsonl", "path": str(story.data / "rows.jsonl"), "id": SLUG}
    story.sign(output={"root": root, "temporary_root": f"{root}-temporary"}, tracker=rows)
    assert story.init() == 0
    fill(azure, root, "step-2/weights", "step-4/weights")
    marker = {"step": 2, "timestamp": "2026-01-01T00:00:02", "is_temporary": False}
    story.run.store.create(f"{root}/step-2/metadata.json", json.dumps(marker).encode())
    capsys.readouterr()
    return story, root


def test_a_checkpoint_without_its_marker_is_not_complete(
    on_azure: tuple[Story, str], azure: Service, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, root = on_azure
    assert story.herorun("checkpoints", "list", SLUG, "--json") == 0
    checkpoints = json.loads(capsys.readouterr().out)["checkpoints"]
    assert {each["step"]: each["state"] for each in checkpoints} == {2: "complete", 4: "incomplete"}
    assert checkpoints[0]["path"].startswith(root)

    monkeypatch.setenv(CONNECTION, azure_connection(azure, WRONG_KEY))
    assert story.herorun("checkpoints", "list", SLUG) == 3
    output = capsys.readouterr()
    assert mentions(output.out + output.err, "403 Auth") and "step-2" not in output.out


def test_the_doctor_names_the_login_and_a_root_that_cannot_be_read(
    on_azure: tuple[Story, str], azure: Service, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, root = on_azure

    def parts() -> dict[tuple[str, str], Any]:
        story.herorun("doctor", SLUG, "--json")
        by_part = json.loads(capsys.readouterr().out)["parts"]
        return {(part["group"], part["name"]): part for part in by_part}

    by_part = parts()
    assert mentions(by_part["login", "Azure"]["message"], "account key", AZURE_ACCOUNT)
    assert by_part["store", root]["status"] == "ok"
    monkeypatch.setenv(CONNECTION, azure_connection(azure, WRONG_KEY))
    assert parts()["store", root]["status"] == "unknown"


def test_of_two_clones_one_gets_the_lease(on_azure: tuple[Story, str]) -> None:
    story, root = on_azure
    clone = story.clone("other")
    holders: list[str] = []
    refusals: list[HerorunError] = []
    gate = threading.Barrier(2)

    def take(one: Story) -> None:
        run = one.run
        gate.wait(60)
        try:
            holders.append(take_lease(run).owner)
        except HerorunError as error:
            refusals.append(error)

    threads = [threading.Thread(target=take, args=(one,)) for one in (story, clone)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(holders), len(refusals)) == (1, 1)
    lease = read_lease(story.run.store.read(f"{root}/{PATH}"))
    assert lease is not None and lease.owner == holders[0]
