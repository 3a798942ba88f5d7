"""The errors that people catch: what is documented is what is raised."""

import pickle
import re

from herorun import errors
from herorun.core.errors import WrongTable


def test_every_error_stands_in_the_table_with_its_exit_code() -> None:
    values = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", errors.__doc__ or "", re.MULTILINE))
    kinds = {name: getattr(errors, name) for name in errors.__all__ if name[1].islower()}
    codes = {
        name: str(getattr(kind, "exit_code", errors.EXIT_REFUSED)) for name, kind in kinds.items()
    }
    assert values == codes


def test_one_clause_catches_all_that_a_person_can_fix() -> None:
    others = [errors.Blocked, errors.HandedOver, errors.WrongUse, errors.CouldNotLook]
    assert all(issubclass(kind, errors.HerorunError) for kind in others)
    assert issubclass(errors.Refused, SystemExit)


def test_a_wrong_table_comes_back_from_another_process() -> None:
    error = WrongTable("scheduler", "slurm", [(("kid",), "unknown key `kid`")])
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.faults) == (str(error), error.faults)
