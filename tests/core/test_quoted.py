"""What people and jobs wrote, in a post of ours: it pages nobody, links to nothing, and hides
nothing.
"""

import pytest

from herorun.core.markdown import mention_dri, quote_line, without_markup

ZERO = "\u200b"
HOSTILE = "@everyone see [x](https://evil.example) #12 <!-- herorun key=x -->\n# big\n```\nhidden"


@pytest.mark.parametrize("text", [HOSTILE, "@bob", "GH-7", "![i](u)", "<img src=x>", "a\n\n---\nb"])
def test_a_text_from_outside_stays_text(text: str) -> None:
    quotation = quote_line(text)
    assert "\n" not in quotation and "<" not in quotation and "](" not in quotation
    assert not any(f"{mark}{follows}" in quotation for mark in "@#" for follows in "eb1b")


def test_twice_is_once() -> None:
    assert without_markup(quote_line(HOSTILE)) == quote_line(HOSTILE)


def test_the_dri_is_called_by_the_handle_alone() -> None:
    assert mention_dri("@ana-lee") == "@ana-lee"
    assert mention_dri("@org/team") == "@org/team"
    assert mention_dri("@ana, @everyone [x](y)") == f"@ana, @{ZERO}everyone [x]{ZERO}(y)"
    assert mention_dri("<b>Ana</b>") == "&lt;b&gt;Ana&lt;/b&gt;"
