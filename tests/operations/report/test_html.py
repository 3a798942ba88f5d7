"""The page of a report, as it is and in a real browser: text stays text, nothing is fetched, all is
drawn.
"""

import base64
import hashlib
import json
import re
from array import array
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from herorun.core.report.downsample import Trace
from herorun.operations.report import html
from herorun.operations.report.axes import StepAxes
from herorun.operations.report.html import page_of
from operations.report.reports import (
    SPIKE,
    a_chart,
    a_goodput,
    a_link,
    a_report,
    an_alert,
    an_instance,
)
from services.browser import Browser, browser
from wording import mentions

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x "
    "onerror=\"document.title='owned'\">{{ 7*7 }}"
)


def hostile() -> str:
    """The page of a run that says something hostile wherever it says anything."""
    charts = (
        a_chart(
            "loss",
            HOSTILE,
            HOSTILE,
            Trace(1, range(1, 9), [2.0, 1.9, 3.0, 1.8, 1.7, 1.6, 1.5, 1.4]),
        ),
    )
    a_mark = {"kind": "alert", "step": 3, "title": HOSTILE, "note": HOSTILE, "at": None}
    return page_of(
        a_report(
            drawn=charts,
            logbook=(
                f"# {HOSTILE}\n\n- [a](javascript:alert(1)) ![b](https://example.org/x.png) "
                "<b>bold</b>\n"
            ),
            goal=HOSTILE,
            verdict=HOSTILE,
            notes=[HOSTILE],
            links=[a_link(HOSTILE, HOSTILE, "javascript:document.title='owned'")],
            alerts=[an_alert(HOSTILE, "critical", 3, HOSTILE, None)],
            instances=[an_instance(HOSTILE, HOSTILE, HOSTILE, [HOSTILE], HOSTILE)],
            annotations=[a_mark],
        )
    )


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def of(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in names]


# --- as it is -------------------------------------------------------------------------------------


def test_text_of_a_run_is_no_markup() -> None:
    page = hostile()
    tags = Tags(page)
    assert len(tags.of("script")) == 3 and tags.of("img", "iframe", "object", "form", "b") == []
    assert not [
        attributes
        for _, attributes in tags.elements
        if any(name.startswith("on") for name in attributes)
    ]
    assert "&lt;img src=x" in page and "{{ 7*7 }}" in page
    links = [str(attributes["href"]) for attributes in tags.of("a")]
    assert [link for link in links if not link.startswith("#")] == [
        "https://example.org/x.png"
    ]  # no picture of it


def test_the_policy_allows_our_own_script_and_style_and_no_network() -> None:
    page = page_of(a_report())
    (policy,) = [
        attributes["content"] for attributes in Tags(page).of("meta") if "http-equiv" in attributes
    ]
    assert (
        policy is not None and policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    )
    assert "connect-src" not in policy and "http" not in policy
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digests = [
            base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies
        ]
        assert f"{name} " + " ".join(f"'sha256-{digest}'" for digest in digests) + ";" in policy


def test_a_template_is_compiled_once_and_again_where_its_file_changed(monkeypatch) -> None:
    first = html.html_template("report/page.html")
    assert html.html_template("report/page.html") is first
    monkeypatch.setattr(html, "template", lambda name: "a {{ word }}")

    assert html.html_template("report/page.html").render(word="<b>") == "a &lt;b&gt;"


def test_nothing_is_fetched() -> None:
    tags = Tags(page_of(a_report()))
    addresses = [
        attributes.get("src") or attributes.get("href") or ""
        for tag, attributes in tags.elements
        if tag != "a"
    ]
    assert {address for address in addresses if not address.startswith("#")} <= {"", "data:,"}


def test_it_leads_elsewhere_and_says_each_command() -> None:
    page = page_of(a_report())
    links = [str(attributes["href"]) for attributes in Tags(page).of("a")]
    assert "https://example.org/lab/tiny" in links and "/run/issue.md" in page
    assert "<code>sh train.sh /data</code>" in page
    assert "<code>herorun logs tiny --instance tiny-2</code>" in page
    assert "<code>/data/jobs/tiny-2/log</code>" in page


@pytest.mark.parametrize(
    ("url", "links"), [("http://head:8265/#/jobs/tiny-1", 1), ("javascript:alert(1)", 0), ("", 0)]
)
def test_a_log_is_linked_where_a_web_page_shows_it(url: str, links: int) -> None:
    one = an_instance("tiny-1", "launch", "", None, "")
    page = page_of(a_report(instances=[{**one, "log_url": url}]))
    hrefs = [attributes["href"] for attributes in Tags(page).of("a") if attributes["href"] == url]
    assert len(hrefs) == links and ("javascript:" in page) is False
    assert "<code>herorun logs tiny --instance tiny-1</code>" in page


def test_the_library_comes_with_its_licence() -> None:
    page = page_of(a_report())
    assert "The MIT License" in page and "uPlot (v1." in page


def test_everything_can_be_read_without_the_drawings() -> None:
    tags = Tags(page_of(a_report()))
    assert len(tags.of("table")) >= 4 and len(tags.of("noscript")) == 1
    assert [tag for tag, _ in tags.elements if tag in ("header", "nav", "main", "footer")] == [
        "header",
        "nav",
        "main",
        "footer",
    ]
    levels = [int(tag[1]) for tag, _ in tags.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    names = {attributes["id"] for _, attributes in tags.elements if attributes.get("id")}
    told_by = {
        attributes["aria-labelledby"]
        for _, attributes in tags.elements
        if attributes.get("aria-labelledby")
    }
    assert told_by <= names


def test_without_rows_and_launches_there_is_a_page_too() -> None:
    fields = {
        "goodput": a_goodput(),
        "progress": {"step": None, "final_step": None, "text": "~unknown/unknown"},
        "eta": {
            "earliest": None,
            "latest": None,
            "text": "none: nothing was launched yet",
            "why": "",
        },
        "record": {"commit": None, "pushed": False},
        **{key: [] for key in ("charts", "annotations", "alerts", "instances", "notes")},
        "checkpoint": None,
    }
    page = page_of(a_report(drawn=(), logbook="", **fields))
    assert mentions(page, "unknown of unknown") and mentions(page, fields["eta"]["text"])
    assert mentions(page, "rows") and mentions(page, "No alert")


def test_a_long_logbook_keeps_its_newest_entries() -> None:
    entries = "".join(f"### entry {n}\n\n{'x' * 900}\n\n" for n in range(600))
    page = page_of(a_report(logbook=entries))
    assert ">entry 599<" in page and ">entry 1<" not in page and "left out" in page


# --- in a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as chromium_browser:
        yield chromium_browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(a_report()))
    return path


DRAWN_EXPRESSION = "document.documentElement.dataset.drawn"
PAINTED_EXPRESSION = """[...document.querySelectorAll('.plot canvas')].map((canvas) => {
  const told = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, colours = new Set();
  for (let at = 0; at < told.length; at += 4) if (told[at + 3]) colours.add(told[at] + ',' + told[at + 1] + ',' + told[at + 2]);
  return colours.size;
})"""  # noqa: E501  # a text that is read as it stands
RANGE = "[...document.querySelectorAll('.plot')].map((box) => box.dataset.range)"


def place(chromium: Browser, step: int) -> tuple[float, float]:
    """Where a step of the loss is on the screen."""
    script = """(() => {
      const plot = document.querySelector('#plot-loss');
      plot.scrollIntoView({ block: 'center' });
      const box = plot.querySelector('.u-over').getBoundingClientRect();
      return [box.left, box.width, box.top + box.height / 2, ...plot.dataset.range.split(' ').map(Number)];
    })()"""  # noqa: E501  # a text that is read as it stands
    x, width, y, low, high = chromium.run(script)
    return x + width * (step - low) / (high - low), y


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1100])
def test_it_is_drawn_whole_at_any_width_light_and_dark(
    chromium: Browser, page: Path, width: int, dark: bool
) -> None:
    chromium.open(page, width, dark=dark)
    assert chromium.run(DRAWN_EXPRESSION) == "3"
    painted_pixels = chromium.run(PAINTED_EXPRESSION)
    assert len(painted_pixels) == 3 and min(painted_pixels) > 10, painted_pixels
    assert chromium.run("document.documentElement.scrollWidth") == width
    back = chromium.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(n) for n in re.findall(r"\d+", back)) < 150) is dark
    assert chromium.complaints == []
    assert chromium.requests == [page.as_uri()]


def test_it_is_drawn_in_a_browser_whose_language_is_none(chromium: Browser, page: Path) -> None:
    """As Chromium's where the environment has the locale POSIX."""
    posix = "{ get: () => 'en-US@posix', configurable: true }"
    language = f"Object.defineProperty(Navigator.prototype, 'language', {posix})"
    chromium.open(page, before=language)
    assert chromium.run(DRAWN_EXPRESSION) == "3" and min(chromium.run(PAINTED_EXPRESSION)) > 10
    assert chromium.complaints == []


def test_the_pointer_reads_values_and_marks(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    x, y = place(chromium, SPIKE)
    chromium.mouse("mouseMoved", x - 30, y)
    chromium.mouse("mouseMoved", x, y)
    readout = chromium.run("document.querySelector('#readout-loss').textContent")
    assert (
        re.match(r"step 6[34]\d · ", readout) and "alert: loss-spike (9.5 at step 641)" in readout
    )
    chromium.run("document.querySelector('[data-kind=alert]').click()")
    chromium.mouse("mouseMoved", x - 30, y)
    chromium.mouse("mouseMoved", x, y)
    assert "loss-spike" not in chromium.run("document.querySelector('#readout-loss').textContent")


def test_by_keyboard_alone_it_is_read_and_zoomed(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.run("document.querySelector('#plot-norm').focus()")
    assert chromium.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    chromium.press("End")
    assert chromium.run("document.querySelector('#readout-norm').textContent").startswith(
        "step 4,000 · grad_norm 0."
    )
    whole = chromium.run(RANGE)
    chromium.press("+")
    chromium.press("+")
    near = chromium.run(RANGE)
    assert len(set(near)) == 1 and near != whole  # all charts show the same steps
    chromium.press("0")
    assert chromium.run(RANGE) == whole


def choose(chromium: Browser, id: str, value: str) -> None:
    chromium.run(
        f"(() => {{ const box = document.getElementById('{id}'); box.value = '{value}'; "
        "box.dispatchEvent(new Event('change', { bubbles: true })); })()"
    )


def test_the_axis_is_steps_time_or_tokens_and_curves_are_smoothed(
    chromium: Browser, tmp_path: Path
) -> None:
    """Between steps 2,000 and 2,001 the run was down for an hour."""
    begin = 1_800_000_000.0
    seconds = (begin + 1, begin + 2000, begin + 5601, begin + 7600)
    path = tmp_path / "axes.html"
    path.write_text(page_of(a_report(axes=StepAxes((1, 2000, 2001, 4000), seconds, 512))))
    chromium.open(path, 400)
    assert chromium.run("document.querySelector('#options').hidden") is False
    choose(chromium, "axis", "time")
    assert chromium.run(RANGE) == [f"{begin + 1:.0f} {begin + 7600:.0f}"] * 3
    chromium.run("document.querySelector('#plot-loss').focus()")
    chromium.press("End")
    readout = chromium.run("document.querySelector('#readout-loss').textContent")
    assert readout.startswith("step 4,000 · 2027-01-15 10:06 UTC · train/loss ")
    assert "again" not in readout
    x, y = place(chromium, int(begin) + 3800)
    chromium.mouse("mouseMoved", x - 30, y)
    chromium.mouse("mouseMoved", x, y)
    readout = chromium.run("document.querySelector('#readout-loss').textContent")
    assert mentions(readout, "UTC", "no rows") and "train/loss" not in readout
    choose(chromium, "axis", "tokens")
    assert chromium.run(RANGE) == [f"0 {4000 * 512}"] * 3
    choose(chromium, "axis", "step")
    chromium.press("+")
    near = chromium.run(RANGE)
    chromium.mouse("mouseMoved", 1, 1)  # on a plot that is drawn anew it would move the cursor
    choose(chromium, "smoothing", "0.05")
    assert chromium.run(RANGE) == near
    chromium.run("document.querySelector('#plot-norm').focus()")
    chromium.press("End")
    readout = chromium.run("document.querySelector('#readout-norm').textContent")
    assert "grad_norm (smoothed)" in readout
    assert min(chromium.run(PAINTED_EXPRESSION)) > 10
    assert chromium.run("document.documentElement.scrollWidth") == 400
    assert chromium.complaints == [] and chromium.requests == [path.as_uri()]


def test_smoothing_and_axis_are_reached_by_keyboard_and_named(
    chromium: Browser, page: Path
) -> None:
    chromium.open(page)
    chromium.run("document.querySelector('#smoothing').focus()")
    assert chromium.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    names = "[...document.querySelectorAll('select')].map((one) => one.labels.length)"
    assert chromium.run(names) == [1, 1]
    assert chromium.run("document.querySelector('#axis').length") == 1  # no times, no tokens


LABELS = """(() => {
  const said = [], paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { said.push(text); return paint.call(this, text, ...rest); };
  const smoothing = document.querySelector('#smoothing');
  smoothing.value = '0.05';
  smoothing.dispatchEvent(new Event('change', { bubbles: true }));
  return new Promise((done) => setTimeout(() => done(said), 100));
})()"""  # noqa: E501  # a text that is read as it stands


def test_no_two_labels_of_a_learning_rate_are_the_same(chromium: Browser, tmp_path: Path) -> None:
    rates = [1e-3 - 1e-6 * step for step in range(100)]
    rate = a_chart("rate", "Learning rate", "lr", Trace(1, range(1, 101), rates))
    path = tmp_path / "rate.html"
    path.write_text(page_of(a_report(100, drawn=(rate,))))
    chromium.open(path)
    labels = [each for each in chromium.run(LABELS) if re.fullmatch(r"[\d.]+e-\d+", each)]
    assert len(labels) > 2 and len(set(labels)) == len(labels), labels


def test_dragging_zooms_all_charts(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    whole = chromium.run(RANGE)
    (start_x, y), (right, _) = (place(chromium, step) for step in (1000, 2000))
    chromium.mouse("mouseMoved", start_x, y)
    chromium.mouse("mousePressed", start_x, y, button="left", clickCount=1)
    chromium.mouse("mouseMoved", right, y, button="left")
    chromium.mouse("mouseReleased", right, y, button="left", clickCount=1)
    ranges = chromium.run(RANGE)
    assert len(set(ranges)) == 1 and ranges != whole
    low, high = map(float, ranges[0].split())
    assert abs(low - 1000) < 20 and abs(high - 2000) < 20
    chromium.run("document.querySelector('.tools[data-for=norm] [data-do=whole]').click()")
    assert chromium.run(RANGE) == whole


def test_what_a_run_says_does_nothing_on_the_page(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(hostile())
    chromium.open(path)
    chromium.run("document.querySelector('#plot-loss').focus()")
    chromium.press("Home")
    assert chromium.run("document.title").startswith("tiny: ")
    assert "</script>" in chromium.run("document.querySelector('h1').textContent")
    assert chromium.run("document.querySelectorAll('img').length") == 0
    assert chromium.complaints == [] and chromium.requests == [path.as_uri()]


def test_another_script_is_refused(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "changed.html"
    path.write_text(
        page_of(a_report()).replace("</body>", "<script>document.title = 'owned'</script></body>")
    )
    chromium.open(path)
    assert chromium.run("document.title") != "owned"
    assert "Content Security Policy" in chromium.complaints[0]


@pytest.mark.thorough
def test_a_million_steps_open_at_once_with_their_one_spike(
    chromium: Browser, tmp_path: Path
) -> None:
    steps, at = 1_000_000, 777_777
    values = array("d", (2.0 + (n * 7919 % 1000) / 5000 for n in range(steps)))
    values[at] = 9.0
    trace = Trace(1, range(1, steps + 1), values)
    charts = tuple(a_chart(id, id, id, trace) for id in ("loss", "throughput", "norm"))
    path = tmp_path / "long.html"
    path.write_text(page_of(a_report(steps, drawn=charts)))
    assert path.stat().st_size < 5_000_000
    chromium.open(path)
    assert chromium.run("performance.getEntriesByType('navigation')[0].loadEventEnd") < 15_000
    assert chromium.run(DRAWN_EXPRESSION) == "3" and chromium.complaints == []
    (data,) = re.findall(r'id="data">(.*?)</script>', path.read_text())
    line = json.loads(data)["charts"][0]["series"][0]["lines"][0]
    assert line["y"][line["x"].index(at + 1)] == 9.0
