"""`make screens`: render every screen again, and what the checks and the refusals say, for a person
to read in the diff.
"""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from screens.collection import all_screens
from screens.notices import WRITING as WRITING_NOTICES, tests_with_notices, write_notices
from screens.rendering import render
from screens.wording import WRITING, write_checks

FOLDER = Path(__file__).parent


def main() -> int:
    texts = {}
    for screen in all_screens():
        with tempfile.TemporaryDirectory() as home:
            texts[f"{screen.name}.txt"] = render(screen, Path(home))
    for path in FOLDER.glob("*.txt"):  # not before all are rendered
        path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    os.environ[WRITING] = os.environ[WRITING_NOTICES] = "yes"
    tests = [str(FOLDER.parent / "checks"), *tests_with_notices()]
    code = pytest.main(["-q", "-m", "not thorough and not back_end", *tests])
    if code == 0:
        write_checks()
        write_notices()
    return code


if __name__ == "__main__":
    sys.exit(main())
