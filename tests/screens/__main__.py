"""`make screens`: render every screen anew, for a person to read in the diff."""

import tempfile
from pathlib import Path

from screens.catalogue import all_screens
from screens.rendering import render

FOLDER = Path(__file__).parent


def main() -> None:
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for screen in all_screens():
        with tempfile.TemporaryDirectory() as home:
            text = render(screen, Path(home))
        (FOLDER / f"{screen.name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
