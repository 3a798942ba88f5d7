"""The files that herorun writes from: `templates/`."""

from importlib.resources import files
from pathlib import Path


def template(name: str) -> str:
    """A file of `templates/`, from the wheel or from the checkout."""
    packaged = files("herorun") / "templates" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[3] / "templates" / name).read_text(encoding="utf-8")
