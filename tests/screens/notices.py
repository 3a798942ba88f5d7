"""What refuses or explains in a sentence, pinned once: `notices/<test module>.txt`, by test and by
row of its table. `make screens` writes it from what the tests get; folders of a test are left out.
"""

import os
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "notices"
WRITING = "HERORUN_WRITE_NOTICES"  # set: collect what the tests get, in place of comparing
notices_by_file: dict[str, dict[str, str]] = defaultdict(dict)


class Notice:
    """The pinned text of one test: `assert str(error) == notice`."""

    def __init__(self, module: str, test: str, folder: Path | None = None) -> None:
        self.module, self.test, self.folder = module, test, folder

    def __eq__(self, text: object) -> bool:
        actual = re.sub(r"/dev/shm/herorun-\w+", "/tmp/...", str(text)).rstrip()
        actual = actual.replace(str(self.folder), "/tmp/...") if self.folder else actual
        if os.environ.get(WRITING):
            notices_by_file[self.module][self.test] = actual
            return True
        return actual == pinned_notices(self.module).get(self.test)

    def __hash__(self) -> int:
        return hash((self.module, self.test))

    def __repr__(self) -> str:
        return repr(pinned_notices(self.module).get(self.test, "not pinned: `make screens`"))


@pytest.fixture
def notice(request: pytest.FixtureRequest) -> Notice:
    """Equal to the text that `make screens` pinned for this test."""
    item = request.node
    module = ".".join(item.path.relative_to(TESTS).with_suffix("").parts)
    rows = getattr(item, "callspec", None)
    test = " ".join(
        [item.originalname, *dict.fromkeys(map(str, rows.indices.values() if rows else ()))]
    )
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in item.fixturenames else None
    return Notice(module, test, folder)


@cache
def pinned_notices(module: str) -> dict[str, str]:
    """The text of each test, from the file that `written` gives."""
    path = FOLDER / f"{module}.txt"
    blocks = re.split(
        r"^(\S.*)\n", path.read_text(encoding="utf-8") if path.exists() else "", flags=re.M
    )
    texts = ["\n".join(line[2:] for line in text.splitlines()) for text in blocks[2::2]]
    return dict(zip(blocks[1::2], texts, strict=True))


def written_write_notices(texts: dict[str, str]) -> str:
    indented_texts = {
        test: [f"  {line}" for line in text.split("\n")] for test, text in texts.items()
    }
    return "".join("\n".join([test, *lines]) + "\n" for test, lines in indented_texts.items())


def tests_with_notices() -> list[str]:
    paths = TESTS.rglob("test_*.py")
    return [str(path) for path in paths if re.search(r"\bnotice\b", path.read_text("utf-8"))]


def source_of(module: str) -> Path:
    return (TESTS / Path(*module.split("."))).with_suffix(".py")


def write_notices() -> None:
    """A test that did not run, for want of a server, keeps what it has."""
    FOLDER.mkdir(exist_ok=True)
    for module, texts in notices_by_file.items():
        source = source_of(module).read_text(encoding="utf-8")
        all_texts = {**pinned_notices(module), **texts}
        current = {
            test: text for test, text in all_texts.items() if f"def {test.split()[0]}(" in source
        }
        (FOLDER / f"{module}.txt").write_text(written_write_notices(current), encoding="utf-8")
