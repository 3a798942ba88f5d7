"""What a page may show of text from outside."""

from herorun.core.report.text import readable, readable_tree

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def test_no_secret_and_nothing_that_cannot_be_seen() -> None:
    assert TOKEN not in readable(f"push failed with {TOKEN}")
    assert readable("a\u202eb\x1b[31mc") == "a�b�[31mc"
    assert readable("two\nlines") == "two\nlines"


def test_our_own_joints_are_taken_out() -> None:
    assert readable("@\u200bdri") == "@dri"


def test_in_a_document_it_holds_at_any_depth() -> None:
    tree = readable_tree({"a": [{"why": f"{TOKEN}\x00"}], "n": 3, "t": None})
    assert TOKEN not in str(tree) and "\x00" not in tree["a"][0]["why"]
    assert (tree["n"], tree["t"]) == (3, None)
