"""`make screens`: render every screen anew, for a person to read in the diff."""

import tempfile
from pathlib import Path

from screens.catalogue import all_screens
from screens.rendering import render

FOLDER = Path(__file__).parent


def main() -> None:
    texts = {}
    for screen in all_screens():
        with tempfile.TemporaryDirectory() as home:
            texts[f"{screen.name}.txt"] = render(screen, Path(home))
    for path in FOLDER.glob("*.txt"):  # not before all are rendered
        path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
