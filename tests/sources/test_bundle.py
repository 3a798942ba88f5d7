"""What a source bundle holds, file by file, against a real commit."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from builders import a_contract, a_plan
from herorun.core.contract import ContractFile
from herorun.core.evidence import Bundle, BundleContent, Nothing, Sourced
from herorun.sources.bundle import read_bundle, read_bundle_content
from herorun.stores.local import LocalStore
from herorun.system.git import Repository
from herorun.system.git.commit_content import code_tree
from stories import git

FILE = ContractFile("runs/tiny.toml", "text", "text")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("work")
    git(top, "init", "-q", "-b", "main")
    for name, text in {
        "train.py": "x\n",
        "lib/model.py": "y\n",
        "notes.md": "z\n",
        FILE.path: "bundle",
    }.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(text)
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / "latest.py").symlink_to("train.py")
    (top / ".gitattributes").write_text("notes.md export-ignore\n")
    git(top, "add", "-A")
    git(top, "-c", "user.name=d", "-c", "user.email=d@example.org", "commit", "-q", "-m", "code")
    git(top, "archive", "--output=commit.tar", "HEAD")
    git(top, "archive", "--prefix=code-1/", "--output=prefix.tar", "HEAD")
    git(top, "archive", "--output=commit.zip", "HEAD")
    (top / "commit.tar.gz").write_bytes(gzip.compress((top / "commit.tar").read_bytes()))
    return top


def content(work: Path, name: str | None) -> BundleContent | Nothing:
    contract = a_contract(runtime={"bundle": name})
    return read_bundle_content(contract, Repository(work, work / ".git"), LocalStore(), FILE)


def read(work: Path, name: str) -> Bundle:
    bundle_content = content(work, name)
    assert isinstance(bundle_content, BundleContent)
    commit = git(work, "rev-parse", "HEAD").strip()
    plan = replace(
        a_plan(), commit=Sourced(commit, "HEAD"), bundle=Sourced(bundle_content.identity, "")
    )
    bundle = read_bundle(bundle_content, plan, Repository(work, work / ".git"), FILE)
    assert isinstance(bundle, Bundle)
    return bundle


def differences(bundle: Bundle) -> tuple[tuple[str, ...], ...]:
    return bundle.changed, bundle.extra, bundle.missing


@pytest.mark.parametrize("name", ["commit.tar", "prefix.tar", "commit.tar.gz", "commit.zip"])
def test_an_archive_of_the_commit_holds_its_files(work: Path, name: str) -> None:
    evidence = read(work, name)

    assert (evidence.compared, differences(evidence)) == (6, ((), (), ()))


def test_an_identity_is_the_content_and_not_its_wrapping(work: Path) -> None:
    contents = [content(work, name) for name in ("commit.tar", "prefix.tar", "commit.tar.gz")]

    assert len({each.digest for each in contents if isinstance(each, BundleContent)}) == 1


def test_the_digest_of_all_files_is_the_code_tree(work: Path) -> None:
    with tarfile.open(work / "whole.tar", "w") as tar:
        for name in git(work, "ls-files").split():
            tar.add(work / name, name)
    bundle_content = content(work, "whole.tar")

    assert isinstance(bundle_content, BundleContent)
    assert bundle_content.digest == code_tree(Repository(work, work / ".git"), "HEAD", FILE.path)


def append(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


TAMPERINGS: dict[str, tuple[Callable[[tarfile.TarFile], None], tuple[tuple[str, ...], ...]]] = {
    "a file that is unpacked over the commit's": (
        lambda tar: append(tar, "train.py", b"dirty\n"),
        (("train.py",), (), ()),
    ),
    "a file more": (lambda tar: append(tar, "./lib/extra.py", b""), ((), ("lib/extra.py",), ())),
    "one that leads out": (lambda tar: append(tar, "../out.py", b""), ((), ("../out.py",), ())),
    "another mode": (lambda tar: append(tar, "run.sh", b"#!/bin/sh\n"), (("run.sh",), (), ())),
    "the contract alone": (lambda tar: append(tar, FILE.path, b"another"), ((), (), ())),
}


@pytest.mark.parametrize(("change", "expectation"), TAMPERINGS.values(), ids=TAMPERINGS)
def test_what_differs_is_named(
    work: Path, change: Callable[[tarfile.TarFile], None], expectation: object
) -> None:
    (work / "tampered.tar").write_bytes((work / "commit.tar").read_bytes())
    with tarfile.open(work / "tampered.tar", "a") as tar:
        change(tar)

    assert differences(read(work, "tampered.tar")) == expectation


def test_a_missing_file_is_named_and_one_that_git_leaves_out_is_not(work: Path) -> None:
    with zipfile.ZipFile(work / "part.zip", "w") as archive:
        archive.writestr("train.py", "x\n")

    assert read(work, "part.zip").missing == (
        ".gitattributes",
        "latest.py",
        "lib/model.py",
        "run.sh",
    )


def test_a_named_tree_and_an_opaque_identity_hold_no_files(work: Path) -> None:
    tree = f"tree:sha256:{'0' * 64}"

    assert content(work, tree) == BundleContent(tree, f"sha256:{'0' * 64}")
    assert content(work, "sha256:abc") == BundleContent("sha256:abc")
    assert read(work, "git:abcdef0").compared is None


def test_no_bundle_is_nothing(work: Path) -> None:
    assert isinstance(content(work, None), Nothing)


def test_a_missing_or_cut_bundle_is_an_error(work: Path) -> None:
    with pytest.raises(FileNotFoundError):
        content(work, "missing.tar")
    (work / "cut.tar.gz").write_bytes((work / "commit.tar.gz").read_bytes()[:40])
    with pytest.raises(OSError, match=r"archive"):
        content(work, "cut.tar.gz")
