"""The code as a bundle in the output store: what is packed, and what each pod does with it."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from herorun.core.errors import WrongUse
from herorun.schedulers._kubernetes import bundle
from herorun.schedulers._kubernetes.bundle import CodeArchive, bundle_of, with_bundle
from schedulers.test_kubernetes_requests import options, request
from wording import mentions

BUNDLE_OPTIONS = {"code": "bundle", "folder": None}
FETCH = ("gcloud", "cp", "{from}", "{to}")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "train.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("exec true\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("pkg")
    return folder


def pod(root: str = "/out", template: dict[str, Any] | None = None, **changes: Any) -> Any:
    """The pod template of a request, with a bundle of that root."""
    fields = {**BUNDLE_OPTIONS, **changes}
    bundle = CodeArchive(f"{root}/_herorun/code/abc.tar", "abc")
    return with_bundle(request(template, **fields)["spec"]["template"], bundle, options(**fields))


def test_equal_files_are_one_bundle_named_by_its_digest(code: Path, tmp_path: Path) -> None:
    first = bundle_of(str(code), "/out")
    (tmp_path / "elsewhere").mkdir()
    moved_folder = code.rename(tmp_path / "elsewhere" / "code")
    (moved_folder / "run.sh").touch()
    assert bundle_of(str(moved_folder), "/out") == first
    assert first.path == f"/out/_herorun/code/{first.digest}.tar"
    (moved_folder / "pkg" / "train.py").write_text("x = 2\n")
    assert bundle_of(str(moved_folder), "/out").digest != first.digest


def test_programs_links_and_long_names_arrive_as_they_are(code: Path) -> None:
    long = "n" * 200
    (code / long).write_text("")
    (code / ".git").mkdir()
    (code / ".git" / "config").write_text("")
    with tarfile.open(fileobj=io.BytesIO(bundle_of(str(code), "/out").data)) as tar:
        modes = {each.name: oct(each.mode) for each in tar if each.isfile()}
        assert tar.getmember("latest").linkname == "pkg"
    assert modes == {"pkg/train.py": "0o644", "run.sh": "0o755", long: "0o644"}


def test_code_that_is_too_large_is_refused(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_BUNDLE", 1 << 10)
    with pytest.raises(WrongUse, match="image"):
        bundle_of(str(code), "/out")
    with pytest.raises(WrongUse, match="folder"):
        bundle_of(str(code / "run.sh"), "/out")


def test_each_pod_fetches_it_as_the_run_would(code: Path) -> None:
    """With the same image, logins and volumes, before the user's own init containers."""
    disk = {"name": "disk", "mountPath": "/out"}
    template = {
        "spec": {
            "volumes": [{"name": "disk", "persistentVolumeClaim": {"claimName": "out"}}],
            "initContainers": [{"name": "theirs", "image": "x"}],
            "containers": [{"name": "main", "volumeMounts": [disk]}],
        }
    }
    spec = pod(template=template)["spec"]
    fetching, theirs = spec["initContainers"]
    (main,) = spec["containers"]
    assert theirs["name"] == "theirs" and fetching["image"] == main["image"]
    assert fetching["volumeMounts"] == main["volumeMounts"]
    assert disk in fetching["volumeMounts"] and fetching["env"] == main["env"]
    argv = ["abc", "cp", "/out/_herorun/code/abc.tar", "/herorun-code/bundle.tar"]
    assert fetching["command"][3:] == argv
    assert {"name": "herorun-code", "emptyDir": {}} in spec["volumes"]


def test_an_object_store_needs_a_command_of_the_image() -> None:
    with pytest.raises(WrongUse) as error:
        pod("gs://heroes/out")
    assert mentions(str(error.value), "gs://heroes/out", "fetch")
    argv = pod("gs://heroes/out", fetch=FETCH)["spec"]["initContainers"][0]["command"]
    assert argv[4:7] == ["gcloud", "cp", "gs://heroes/out/_herorun/code/abc.tar"]


@pytest.mark.parametrize(
    "changes",
    [
        {**BUNDLE_OPTIONS, "folder": "/app"},
        {**BUNDLE_OPTIONS, "fetch": ["cp", "{from}", "/x"]},
        {"fetch": FETCH},
    ],
)
def test_options_that_cannot_be_meant(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options(**changes)
