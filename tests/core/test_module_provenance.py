"""Which loaded modules are the run's own, and which of them are strays."""

from herorun.core.module_provenance import code_roots, strays

FILES = [
    "train.py",
    "jobs/run.py",
    "src/grug/__init__.py",
    "src/grug/model.py",
    "src/herorun/core/plan.py",
]
CODE = ("/export",)


def strays_of(
    loaded_modules: dict[str, str], roots: tuple[str, ...] = ("", "src")
) -> tuple[list[str], int]:
    wrong, observations = strays(loaded_modules, CODE, FILES, roots)
    return sorted(wrong), observations


def test_the_roots_are_the_top_src_the_working_directory_and_the_scripts_folder() -> None:
    assert code_roots(["python", "train.py"], ".", FILES) == ("", "src")
    assert code_roots(["python", "jobs/run.py"], ".", FILES) == ("", "src", "jobs")
    assert code_roots(["python", "../jobs/run.py"], "src", FILES) == ("", "src", "src/src", "jobs")


def test_a_module_under_the_tree_is_no_stray() -> None:
    assert strays_of({"grug.model": "/export/src/grug/model.py"}) == ([], 1)


def test_a_module_from_another_place_is_a_stray() -> None:
    assert strays_of(
        {"grug.model": "/home/u/src/grug/model.py", "grug": "/home/u/src/grug/__init__.py"}
    ) == (
        ["grug", "grug.model"],
        2,
    )


def test_a_folder_that_only_begins_with_the_trees_name_is_another_place() -> None:
    assert strays_of({"grug": "/export-old/src/grug/__init__.py"}) == (["grug"], 1)


def test_a_module_that_the_tree_does_not_hold_is_not_the_runs_own() -> None:
    assert strays_of(
        {"grug.kernels": "/site/grug/kernels.so", "numpy": "/site/numpy/__init__.py"}
    ) == (
        [],
        0,
    )


def test_a_module_of_the_scripts_folder_counts_where_that_is_a_root() -> None:
    loaded_modules = {"run": "/home/u/other/run.py"}
    assert strays_of(loaded_modules) == ([], 0)
    assert strays_of(loaded_modules, ("", "src", "jobs")) == (["run"], 1)


def test_herorun_itself_is_no_part_of_the_run() -> None:
    assert strays_of({"herorun.core.plan": "/site/herorun/core/plan.py"}) == ([], 0)


def test_another_checkout_is_recognised_by_its_paths_though_its_folder_is_no_root() -> None:
    files = [*FILES, "lib/levanter/src/levanter/__init__.py", "lib/levanter/src/levanter/optim.py"]
    here = {"levanter.optim": "/export/lib/levanter/src/levanter/optim.py"}
    there = {"levanter.optim": "/home/u/repo/lib/levanter/src/levanter/optim.py"}

    assert strays(here, CODE, files, ("", "src")) == ({}, 1)
    assert strays(there, CODE, files, ("", "src")) == (there, 1)
    installed_files = {"levanter.optim": "/env/lib/python3.11/site-packages/levanter/optim.py"}
    assert strays(installed_files, CODE, files, ("", "src")) == ({}, 0)


def test_a_file_of_the_same_name_in_another_package_is_no_stray() -> None:
    assert strays_of(
        {"other.train": "/opt/other/train.py", "x.grug.model": "/opt/x/grug/model.py"}
    ) == ([], 0)


SITE = "/env/lib/python3.11/site-packages"


def test_an_installed_package_that_only_shares_the_name_is_no_stray() -> None:
    files = [*FILES, "datasets/__init__.py"]
    loaded_modules = {"datasets": f"{SITE}/datasets/__init__.py"} | {
        f"datasets.{name}": f"{SITE}/datasets/{name}.py" for name in ("load", "features", "arrow")
    }
    assert strays(loaded_modules, CODE, files, ("", "src")) == ({}, 0)


def test_an_installed_copy_of_the_runs_own_package_is_a_stray() -> None:
    loaded_modules = {"grug": f"{SITE}/grug/__init__.py", "grug.model": f"{SITE}/grug/model.py"}

    assert strays_of(loaded_modules) == (["grug", "grug.model"], 2)
    assert strays_of({**loaded_modules, "grug.gone": f"{SITE}/grug/gone.py"}) == (
        ["grug", "grug.model"],
        2,
    )
