"""editable-install."""

from builders import a_contract, a_plan, answer, answers
from herorun.checks.launch.editable_install import editable_install
from herorun.core.evidence import Installed

TOP = "/home/u/grug"


def here(editable: dict[str, str] | None = None, paths: tuple[str, ...] = ()) -> Installed:
    return Installed("python", {}, editable or {}, paths, TOP)


def test_an_environment_apart_from_the_checkout_passes() -> None:
    assert answer(editable_install, here()).outcome == "pass"


def test_an_editable_install_of_this_checkout_fails() -> None:
    verdict = answer(editable_install, here({"grug": TOP}))
    assert (verdict.outcome, verdict.subject) == ("fail", "grug")


def test_its_path_is_not_told_twice() -> None:
    assert len(answers(editable_install, here({"grug": TOP}, (f"{TOP}/src",)))) == 1


def test_an_editable_install_of_another_project_is_none_of_ours() -> None:
    assert answer(editable_install, here({"other": "/home/u/grug-other"})).outcome == "pass"


def test_a_module_path_into_the_checkout_fails() -> None:
    verdict = answer(editable_install, here(paths=(f"{TOP}/src",)))
    assert (verdict.outcome, verdict.subject) == ("fail", f"{TOP}/src")


def test_a_script_of_the_checkout_by_its_full_path_fails() -> None:
    words = [
        f"{TOP}/.venv/bin/python",
        f"{TOP}/train.py",
        "--data",
        f"{TOP}/data",
        f"{TOP}-other/x.py",
    ]
    verdict = answer(editable_install, a_plan(a_contract(command={"argv": words})), here())
    assert (verdict.outcome, verdict.subject) == ("fail", f"{TOP}/train.py")


def test_a_run_in_place_imports_from_the_checkout_by_choice() -> None:
    plan = a_plan(a_contract(code={"in_place": True}))
    assert answer(editable_install, plan, here({"grug": TOP})).outcome == "n/a"
