"""Whether a changed file can change the training."""

import pytest

from herorun.core.code.impact import impact_of, limit_lines, of_impact, worst
from herorun.core.contract import Impact

IGNORE, NOTICE, BLOCK = Impact.IGNORE, Impact.NOTICE, Impact.BLOCK


@pytest.mark.parametrize(
    ("path", "impact"),
    [
        ("train.py", BLOCK),
        ("src/model/layer.py", BLOCK),
        ("configs/8b.yaml", BLOCK),
        ("config.toml", BLOCK),
        ("kernel.cu", BLOCK),
        ("no-suffix", BLOCK),
        (".gitattributes", BLOCK),
        (".gitmodules", BLOCK),
        ("uv.lock", BLOCK),
        ("poetry.lock", BLOCK),
        ("requirements.txt", BLOCK),
        ("requirements-dev.txt", BLOCK),
        ("pyproject.toml", BLOCK),
        ("Dockerfile", BLOCK),
        ("docker/Dockerfile.gpu", BLOCK),
        ("experiments/old/uv.lock", BLOCK),
        ("experiments/old/Dockerfile", BLOCK),
        (".github/Dockerfile", BLOCK),
        ("tests/Dockerfile", NOTICE),
        ("docs/requirements.txt", IGNORE),
        ("docs/conf.py", IGNORE),
        ("src/model/docs/data.py", BLOCK),
        ("README.md", IGNORE),
        ("src/model/README.md", IGNORE),
        ("docs/page.rst", IGNORE),
        ("CHANGES.rst", IGNORE),
        ("LICENSE", IGNORE),
        ("src/.gitignore", IGNORE),
        ("train.log", IGNORE),
        ("logs/out.txt", IGNORE),
        ("src/logs/writer.py", BLOCK),
        (".agents/logbooks/tiny.md", IGNORE),
        ("scratch/20261122-1141_monitoring_state.json", IGNORE),
        ("sub/scratch/20261122-1141-2_monitoring_state.json", IGNORE),
        ("scratch/train.json", BLOCK),
        (".agents/projects/plan.py", IGNORE),
        ("tests/test_model.py", NOTICE),
        ("src/model/tests/data.json", NOTICE),
        ("src/model/test_layer.py", NOTICE),
        ("src/model/layer_test.py", NOTICE),
        ("conftest.py", NOTICE),
        ("contest.py", BLOCK),
        ("latest.py", BLOCK),
        ("analysis.ipynb", NOTICE),
        (".github/workflows/ci.yaml", NOTICE),
        ("experiments/other/run.py", NOTICE),
        ("runs/other.toml", NOTICE),
        ("runs/deep/other.toml", BLOCK),
        ("README.MD", BLOCK),
        ("a\nb.md", IGNORE),
        ("caf\udce9.md", IGNORE),
        ("caf\udce9.py", BLOCK),
        ("caf\\xe9.py", BLOCK),
    ],
)
def test_the_shipped_preset(path: str, impact: Impact) -> None:
    assert impact_of(path, {}) is impact


@pytest.mark.parametrize(
    ("glob", "matches", "misses"),
    [
        ("*.txt", ["a.txt", "x/y/a.txt", ".txt"], ["a.txt.gz", "a.txt/b"]),
        ("/a.txt", ["a.txt"], ["x/a.txt"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"]),
        ("src/**", ["src/a", "src/x/y"], ["src", "x/src/a", "srcs/a"]),
        ("src/**/a", ["src/a", "src/x/a", "src/x/y/a"], ["src/xa", "a"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["xa"]),
        ("**", ["a", "x/y"], []),
        ("data/", ["data/a", "x/data/a/b"], ["data", "mydata/a"]),
        ("/data/", ["data/a", "data/x/y"], ["x/data/a"]),
        ("x/data/", ["x/data/a/b"], ["data/a", "y/x/data/a"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab]c", ["ac", "bc", "x/ac"], ["cc", "[ab]c"]),
        ("[!ab]c", ["cc"], ["ac", "/c"]),
        ("[^a]c", ["bc"], ["ac"]),
        ("[]a]c", ["]c", "ac"], ["bc"]),
        ("[a-c]x", ["bx"], ["dx", "-x"]),
        ("[z-a]x", ["[z-a]x"], ["mx"]),
        ("[x", ["[x"], ["x"]),
        ("[]", ["[]"], ["a"]),
        ("[!]", ["!"], ["a"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("a.c+(d)|e", ["a.c+(d)|e"], ["axc+(d)", "e"]),
        ("A.py", ["A.py"], ["a.py"]),
        ("", [], ["a"]),
    ],
)
def test_globs_are_those_of_gitignore(glob: str, matches: list[str], misses: list[str]) -> None:
    rules = {glob: IGNORE, "**": IGNORE if glob == "**" else BLOCK}
    assert [path for path in matches if impact_of(path, rules) is not IGNORE] == []
    assert [path for path in misses if impact_of(path, rules) is IGNORE] == []


def test_the_first_rule_that_matches_wins_and_rules_come_before_the_preset() -> None:
    rules = {
        "docs/spec.md": BLOCK,
        "*.md": NOTICE,
        "src/tools/": IGNORE,
        "src/tools/train.py": BLOCK,
    }
    assert impact_of("docs/spec.md", rules) is BLOCK
    assert impact_of("README.md", rules) is NOTICE
    assert impact_of("src/tools/train.py", rules) is IGNORE
    assert impact_of("README.md", {"**": BLOCK}) is BLOCK


def test_what_the_entry_point_imports_blocks_whatever_the_rules_say() -> None:
    closure = frozenset({"tests/data.py"})
    assert impact_of("tests/data.py", {"tests/": IGNORE}, closure) is BLOCK
    assert impact_of("tests/other.py", {"tests/": IGNORE}, closure) is IGNORE
    assert impact_of("train.py", {}, closure) is BLOCK


def test_a_repository_inside_that_is_imported_from_blocks() -> None:
    closure = frozenset({"tests/lib/data/__init__.py"})
    for path in ("tests/lib/", "tests/lib"):  # untracked, and as a submodule
        assert impact_of(path, {}, closure) is BLOCK
    assert impact_of("tests/library/", {}, closure) is NOTICE


def test_a_config_of_the_experiment_that_runs_is_not_unrelated() -> None:
    closure = frozenset({"experiments/grug/train.py", "experiments/shared.py"})
    assert impact_of("experiments/grug/conf/model/big.yaml", {}, closure) is BLOCK
    assert impact_of("experiments/defaults.yaml", {}, closure) is BLOCK
    assert impact_of("experiments/grug/other.py", {}, closure) is NOTICE
    assert impact_of("experiments/grug/loss.png", {}, closure) is NOTICE
    assert impact_of("experiments/other/conf/big.yaml", {}, closure) is NOTICE
    assert impact_of("experiments/grug/conf/big.yaml", {"experiments/": NOTICE}, closure) is NOTICE


def test_paths_are_sorted_out_in_their_order() -> None:
    paths = ["z.py", "README.md", "a.py", "tests/t.py"]
    assert of_impact(paths, {}, (), BLOCK) == ("z.py", "a.py")
    assert of_impact(paths, {}, ("README.md",), IGNORE) == ()


def test_the_worst_of_several() -> None:
    assert worst([], {}, ()) is None
    assert worst(["README.md"], {}, ()) is IGNORE
    assert worst(["tests/t.py", "README.md"], {}, ()) is NOTICE
    assert worst(["README.md", "train.py", "tests/t.py"], {}, ()) is BLOCK


def test_a_long_list_says_how_many_lines_it_leaves_out() -> None:
    assert limit_lines(["a", "b"]) == ("a", "b")
    lines = [f"line {number}" for number in range(300)]
    assert limit_lines(lines) == (*lines[:200], "and 100 more")
