"""The files that herorun writes from: `templates/`."""

from pathlib import Path


def template(name: str) -> str:
    """A file of `templates/`, from the wheel or from the checkout."""
    return _path_of(name).read_text(encoding="utf-8")


def template_names(folder: str) -> list[str]:
    """What the files of a folder of `templates/` are called, without their endings."""
    return sorted(path.stem for path in _path_of(folder).iterdir())


def _path_of(name: str) -> Path:
    packaged_path = Path(__file__).parents[1] / "templates" / name
    return (
        packaged_path if packaged_path.exists() else Path(__file__).parents[3] / "templates" / name
    )
