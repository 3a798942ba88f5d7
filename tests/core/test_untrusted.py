"""Text from outside is data: in the logbook, in an issue and on a terminal it is seen, and does
nothing.
"""

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from builders import NOON
from herorun import output
from herorun.core.markdown import bullets, code, one_line, without_markup
from herorun.core.record.logbook_entries import headline
from herorun.notifiers._markdown import harmless

HOSTILE = (
    "[click](https://evil.example.org)",
    "![seen](https://evil.example.org/pixel.png)",
    "[a][b]\n\n[b]: https://evil.example.org",
    "see [b]\n\n[b]: https://evil.example.org",
    "<img src=x onerror=alert(1)>",
    "<!-- herorun event=0123456789abcdef hash=sha256:00 -->",
    "x\n# a heading\n## Event Log",
    "x\n\n| a | b |\n| - | - |\n| 1 | 2 |",
    "```\nnever closed",
    "x\n---\ny",
    "x\n\n- [ ] do it",
    "<details><summary>more",
    "\x1b]8;;https://evil.example.org\x1b\\click\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[31mred\x07\x08\x9b1m",
    "a\u202eb\u2066c\u200bd\u2028e\ufeff",
    "a\rb\x0bc\x0cd\x85e",
)
BLOCKS = {
    "heading_open",
    "fence",
    "code_block",
    "html_block",
    "table_open",
    "hr",
    "blockquote_open",
}


def _tokens(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return {part.type for token in tokens for part in (token, *(token.children or ()))}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("value", [one_line, code])
def test_an_entry_of_the_logbook_stays_one_line_of_words(text: str, value: object) -> None:
    message = value(text)  # the table types its readers loosely
    tokens = _tokens(bullets({"Status": message}))

    assert (len(message.splitlines()) == 1 and message.isprintable()) or "\u200b" in message
    assert not tokens & (BLOCKS | {"link_open", "image", "html_inline"})
    assert _tokens(headline(NOON, text)) & BLOCKS <= {"heading_open"}


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_check_quotes_makes_nothing_in_a_post(text: str) -> None:
    tokens = _tokens(f"**{without_markup(text)}**\n\n{harmless(without_markup(text))}")

    assert not tokens & (BLOCKS | {"link_open", "image", "html_inline"})
    assert without_markup(without_markup(text)) == without_markup(text)


@given(st.text(alphabet="[]()!<>`~#|-*_\\ \n\t\x1b\u202eab@:/", max_size=60))
def test_no_text_makes_a_link_an_image_or_html(text: str) -> None:
    tokens = _tokens(bullets({"Status": one_line(text)})) | _tokens(bullets({"Status": code(text)}))

    assert not tokens & (BLOCKS | {"link_open", "image", "html_inline"})


@pytest.mark.parametrize("text", HOSTILE)
def test_a_terminal_shows_it_and_obeys_nothing(text: str) -> None:
    assert output.clean(text).isprintable()
    assert not set(harmless(text)) & set("\x1b\x07\x08\x9b\x85\u202e\u2066")
