"""git settings that hide changes from plain git."""

from collections.abc import Callable, Mapping

from herorun.sources._status import show_path
from herorun.system.git import Repository

_NO = ("false", "no", "off", "0")
_PARTS = ("all", "dirty", "untracked")
_HIDES: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "core.filemode": ("core.fileMode", lambda value: value in _NO),
    "core.ignorestat": ("core.ignoreStat", lambda value: value not in _NO),
    "core.fsmonitor": ("core.fsmonitor", lambda value: value not in _NO),
    "core.untrackedcache": ("core.untrackedCache", lambda value: value not in (*_NO, "keep")),
    "core.trustctime": ("core.trustctime", lambda value: value in _NO),
    "core.checkstat": ("core.checkStat", lambda value: value == "minimal"),
    "core.autocrlf": ("core.autocrlf", lambda value: value not in _NO),
    "core.sparsecheckout": ("core.sparseCheckout", lambda value: value not in _NO),
    "status.showuntrackedfiles": ("status.showUntrackedFiles", lambda value: value in _NO),
    "diff.ignoresubmodules": ("diff.ignoreSubmodules", lambda value: value in _PARTS),
}
# settings that herorun itself passes come last in the list
_OURS = ("core.fsmonitor", "core.untrackedcache")


def hiding_settings(repository: Repository) -> tuple[str, ...]:
    """The settings as `key=value`, of the effective configuration and of `.gitmodules`, which git
    also applies.
    """
    settings = _list_settings(repository, ())
    for key in _OURS:
        settings[key] = settings[key][:-1]
    entries = [
        show_path(f"{name}={values[-1]}")
        for key, (name, hides) in _HIDES.items()
        if (values := settings.get(key)) and hides(values[-1].lower())
    ]
    if (repository.top / ".gitmodules").is_file():
        settings = _list_settings(repository, ("--file", ".gitmodules")) | settings
    return (
        *entries,
        *(
            show_path(f"{key}={settings[key][-1]}")
            for key in sorted(settings)
            if _ignores(key, settings[key])
        ),
    )


def _ignores(key: str, values: list[str]) -> bool:
    return key.startswith("submodule.") and key.endswith(".ignore") and values[-1].lower() in _PARTS


def _list_settings(repository: Repository, where: tuple[str, ...]) -> dict[str, list[str]]:
    """Key -> its values, the last one in force. Section and key are in lower case; a bare key is
    true.
    """
    settings: dict[str, list[str]] = {}
    listing = (
        repository.git("config", *where, "--list", "-z").text
        if where
        else repository.listed_settings
    )
    for record in listing.split("\0"):
        if record:
            key, bare, value = record.partition("\n")
            settings.setdefault(key, []).append(value if bare else "true")
    return settings
