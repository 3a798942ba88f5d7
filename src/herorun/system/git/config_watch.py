"""Detects changes of git's configuration: until then its cached answers stay valid."""

import os
from pathlib import Path
from time import monotonic

# seconds for which a setting is cached if none of the usual files changes
FRESH = 60.0


def known_settings(common: Path) -> object:
    """A value that changes when the user changes a setting, so that a babysitter notices it;
    changes in included files within a minute.
    """
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    inside = [f"{common}/{name}" for name in ("config", "config.worktree")]
    files = (*inside, f"{home}/.gitconfig", f"{own}/git/config")
    names = sorted(name for name in os.environ if name.startswith("GIT_CONFIG_"))
    overrides = tuple((name, os.environ.get(name)) for name in names)
    return (*map(_stamp, files), home, own, overrides, int(monotonic() / FRESH))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stats = os.stat(path)
    except OSError:
        return None
    return stats.st_ino, stats.st_mtime_ns, stats.st_size
