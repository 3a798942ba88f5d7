"""OmegaConf's references, as Hydra leaves them."""

import pytest

from herorun.core.config.references import resolve_references

ROOT = {"a": {"b": 1, "list": [{"x": "q"}]}, "text": "t"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${a.b}", 1),
        ("${a}", ROOT["a"]),
        ("${a.list[0].x}", "q"),
        ("${a.list.0.x}", "q"),
        ("pre-${a.b}-${text}", "pre-1-t"),
        ("${ text }", "t"),
        ("${a.missing}", "${a.missing}"),
        ("x${a}", "x${a}"),
        ("${now:%Y}", "${now:%Y}"),
        ("${oc.env:HOME}/${a.b}", "${oc.env:HOME}/1"),
        ("${.b}", "${.b}"),
        ("$HOME", "$HOME"),
        ("${self}", "${self}"),
    ],
)
def test_a_reference(text, value):
    assert resolve_references({**ROOT, "self": text})["self"] == value


def test_references_are_followed_through_each_other_and_not_in_circles():
    config = {"a": "${b}", "b": ["${c}"], "c": 1, "x": "${y}", "y": "${x}"}

    assert resolve_references(config) == {"a": [1], "b": [1], "c": 1, "x": "${y}", "y": "${x}"}
