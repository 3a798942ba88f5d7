"""The files that herorun writes from: `templates/`."""

from pathlib import Path


def template(name: str) -> str:
    """A file of `templates/`, from the wheel or from the checkout."""
    packaged_file = Path(__file__).parents[1] / "templates" / name
    if packaged_file.is_file():
        return packaged_file.read_text(encoding="utf-8")
    return (Path(__file__).parents[3] / "templates" / name).read_text(encoding="utf-8")
