"""How a person installs an optional part of herorun."""


def how_to_install(extra: str) -> str:
    """The advice for a missing package.

    >>> how_to_install("s3")
    "install herorun with the extra `s3`: `uv tool install '.[s3]'` in its clone"
    """
    return f"install herorun with the extra `{extra}`: `uv tool install '.[{extra}]'` in its clone"
