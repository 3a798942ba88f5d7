"""`import herorun` in an environment that has only herorun-checkin.

The distribution `herorun` is a package of the same name. In one folder Python prefers a package to
a module, so this file is not loaded there. If the package is in a later folder of the path, as with
an editable install, this file loads that package in its own place.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from typing import Any


def _full_package() -> ModuleSpec | None:
    here = os.path.dirname(os.path.abspath(__file__))
    path = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = PathFinder.find_spec("herorun", path)
    return (
        spec if spec and spec.loader and spec.origin and spec.submodule_search_locations else None
    )


def _replace_by(spec: ModuleSpec) -> None:
    module = module_from_spec(spec)
    sys.modules["herorun"] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


if __name__ == "herorun" and (_spec := _full_package()):
    _replace_by(_spec)
else:
    from herorun_checkin import Refused, check_in, checkin, log

    sys.modules["herorun.checkin"] = checkin  # for `from herorun.checkin import check_in`
    sys.modules["herorun.log"] = sys.modules["herorun_checkin.log"]
    __all__ = ["Refused", "check_in", "log"]

    def __getattr__(name: str) -> Any:
        raise AttributeError(
            f"module 'herorun' has no attribute {name!r}: only herorun-checkin is installed in "
            f"{sys.prefix}. Commands and the full library are in the distribution herorun."
        )
