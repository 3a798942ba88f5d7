"""The pages of all runs over HTTP, as they are and in a real browser: worst first, escaped,
read-only, and never good news from a server that is gone.
"""

import base64
import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest

from builders import NOON
from herorun.core.errors import WrongUse
from herorun.core.run_summary import OpenAlert, RunSummary
from herorun.core.run_summary_text import format_state
from herorun.operations.report.fleet import GENERATOR, HEAD, fleet_page, write_fleet
from herorun.operations.report.web import NOW_EVERY, RUN_EVERY, FleetPages, serve_pages
from herorun.system import page_server as page_server_module
from herorun.system.page_server import ConnectionSlots, Pages, has_token, page_server
from operations.report.test_html import HOSTILE, Tags
from services.browser import Browser, browser
from stories import CRASH, SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
TOKEN = "0123456789abcdef" * 2
GOOD = RunSummary(
    slug="good",
    stage="launched",
    run="healthy",
    step=600,
    final_step=1000,
    loss=2.5,
    seen_at=NOON,
    curve="▇▅▃",
)
DOWN = RunSummary(
    slug="bad",
    stage="launched",
    run="down",
    step=10,
    final_step=1000,
    alerts=(OpenAlert("crashed", "critical", "firing", "bad-1 failed"),),
    seen_at=NOON,
)
STALE = RunSummary(slug="old", stage="launched", run="healthy", monitor="stale", seen_at=NOON)
BLIND = RunSummary(slug="lost", stage="", error="its contract cannot be read")


def page(*runs: RunSummary, poll: int = 0) -> str:
    return fleet_page(runs, NOON + timedelta(minutes=3), lambda slug: f"/runs/{slug}", poll)


# --- as they are ---------------------------------------------------------------------------------


def test_the_worst_run_is_first_and_nothing_unseen_is_green() -> None:
    text = page(GOOD, STALE, DOWN, BLIND)
    links = [str(attributes["href"]) for attributes in Tags(text).of("a")]
    assert links == ["#main", "/runs/bad", "/runs/lost", "/runs/old", "/runs/good"]
    assert mentions(text, "4 runs: 1 down", "1 cannot", "1 monitor stale", "1 healthy")
    badges = re.findall(r'<h2>.*?badge (\w+)">([^<]*)<', text)
    assert badges == [
        ("bad", "down"),
        ("bad", format_state(BLIND)),
        ("unknown", "healthy, monitor stale"),
        ("good", "healthy"),
    ]
    assert mentions(text, "bad-1 failed", "600/1000", "3m ago")


def test_text_of_a_run_is_no_markup_on_the_page_of_all() -> None:
    alert = OpenAlert(HOSTILE, "critical", "firing", HOSTILE)
    text = page(
        RunSummary(slug="tiny", stage="launched", run="down", alerts=(alert,), error=HOSTILE),
        poll=15,
    )
    tags = Tags(text)
    assert len(tags.of("script")) == 1 and tags.of("img", "iframe", "object", "form") == []
    assert "&lt;img src=x" in text and "{{ 7*7 }}" in text


def test_without_polling_nothing_runs_and_nothing_is_asked() -> None:
    (policy,) = [
        attributes["content"]
        for attributes in Tags(page(GOOD)).of("meta")
        if "http-equiv" in attributes
    ]
    assert policy is not None and "script-src 'none'" in policy and "connect-src" not in policy
    polling = next(t["content"] for t in Tags(page(GOOD, poll=15)).of("meta") if "http-equiv" in t)
    assert polling is not None and "connect-src 'self'" in polling and "unsafe" not in polling


def test_a_repository_without_runs_says_how_one_begins() -> None:
    assert mentions(page(), "0 runs", "herorun init")


# --- over HTTP -----------------------------------------------------------------------------------


@contextmanager
def serving(pages: Pages, token: str = "") -> Iterator[str]:
    server = page_server(pages, "127.0.0.1", 0, token)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(
    url: str, path: str = "/", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    link = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        link.request(method, path, headers=headers)
        answer = link.getresponse()
        answer_headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, answer_headers, answer.read().decode()
    finally:
        link.close()


def test_it_only_answers_those_who_look_at_this_machine() -> None:
    with serving(lambda path: (200, path)) as url:
        assert ask(url, "/a%20b?c#d")[::2] == (200, "/a b")
        status, headers, body = ask(url, method="HEAD")
        assert (status, body) == (200, "") and headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "frame-ancestors 'none'"
        assert ask(url, Host="evil.example.org")[0] == 421
        assert ask(url, Host="localhost:1")[0] == 200
        for method in ("POST", "PUT", "DELETE"):
            assert ask(url, method=method)[0] == 501


def test_a_fault_on_the_way_to_a_page_is_an_answer_and_no_page() -> None:
    def fails(path: str) -> tuple[int, str]:
        raise KeyError("a record's secret")

    with serving(fails) as url:
        status, _, output = ask(url)
    assert (status, "KeyError" in output, "secret" in output) == (500, True, False)


def a_repository(folder: Path, *names: str) -> Path:
    """With contracts that cannot be read, which is enough to have a page."""
    git(folder, "init", "--quiet")
    (folder / "runs").mkdir()
    for name in names:
        (folder / "runs" / f"{name}.toml").write_text("slug =", encoding="utf-8")
    return folder


@pytest.mark.parametrize(("status", "kind"), [(200, "html"), (404, "html"), (500, "plain")])
def test_what_the_server_says_itself_is_no_page(status: int, kind: str) -> None:
    with serving(lambda path: (status, "<b>")) as url:
        assert ask(url)[1]["content-type"] == f"text/{kind}; charset=utf-8"
        assert ask(url, Host="evil.example.org")[1]["content-type"].startswith("text/plain")
    with serving(lambda path: (200, "seen"), TOKEN) as url:
        assert ask(url)[1]["content-type"].startswith("text/plain")


def test_who_never_finishes_a_request_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server_module, "ASKING", 0.2)
    with serving(lambda path: (200, "seen")) as url:
        host, port = urlsplit(url).netloc.split(":")
        with socket.create_connection((host, int(port)), timeout=60) as link:
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
            with suppress(ConnectionError):  # it may say so either way
                assert link.recv(1) == b""
        assert ask(url)[0] == 200


def test_one_address_cannot_take_all_places() -> None:
    slots = ConnectionSlots()
    assert [slots.take("192.0.2.1") for _ in range(9)] == [True] * 8 + [False]
    assert [slots.take("127.0.0.1") for _ in range(25)] == [True] * 24 + [False]
    assert not slots.take("192.0.2.2")
    slots.give_back("192.0.2.1")
    assert slots.take("192.0.2.2") and not slots.take("192.0.2.3")


def test_a_slow_page_of_a_run_leaves_places_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, go_on, start = FleetPages(a_repository(tmp_path, "fast", "slow")), Event(), Event()

    def make_slowly(self: FleetPages, slug: str) -> str:
        start.set()
        assert slug == "fast" or go_on.wait(60)
        return f"<{slug}>"

    monkeypatch.setattr(FleetPages, "_run", make_slowly)
    with ThreadPoolExecutor(8) as pool:
        try:
            requests = [pool.submit(pages.page, "/runs/slow") for _ in range(8)]
            assert start.wait(60)
            refusals = [each.result() for each in islice(as_completed(requests, 60), 2)]
            assert all(s == 503 and mentions(page, "reload") for s, page in refusals)
            assert pages.page("/runs/fast") == (200, "<fast>")
        finally:
            go_on.set()
        assert sorted(each.result()[0] for each in requests) == [200] * 6 + [503] * 2


def test_a_newer_look_at_a_run_is_taken_on_demand_and_not_too_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, looks = [0.0], iter(range(9))
    pages = FleetPages(a_repository(tmp_path, "now"), lambda: clock[0])
    monkeypatch.setattr(FleetPages, "_run", lambda self, slug: f"{slug} {next(looks)}")
    assert pages.page("/runs/now") == (200, "now 0")
    clock[0] += NOW_EVERY - 1
    assert pages.page("/runs/now/now") == (200, "now 0")
    clock[0] += 1
    assert pages.page("/runs/now") == (200, "now 0")
    assert pages.page("/runs/now/now") == (200, "now 1")
    assert pages.page("/runs/now") == (200, "now 1")
    for path in ("/now", "/runs/", "/runs//now", "/runs/now/now/now", "/runs/now/"):
        code, page = pages.page(path)
        assert code == 404 and path in page[: page.index("</title>")]


def test_the_page_of_a_run_that_is_gone_does_not_stay(tmp_path: Path) -> None:
    start, folder = a_repository(tmp_path, "old", "tiny"), tmp_path / "pages"
    write_fleet(start, folder)
    (folder / "mine.html").write_text("<title>somebody else's</title>", encoding="utf-8")
    (folder / "quoting.html").write_bytes(b" " * HEAD + GENERATOR)
    (start / "runs" / "old.toml").unlink()
    write_fleet(start, folder)
    assert sorted(each.name for each in folder.iterdir()) == [
        "index.html",
        "mine.html",
        "quoting.html",
        "tiny.html",
    ]


def test_a_run_called_index_keeps_its_page(tmp_path: Path) -> None:
    index, _ = write_fleet(a_repository(tmp_path, "index"), tmp_path / "pages")
    assert [each.name for each in sorted(index.parent.iterdir())] == ["index.html", "index_.html"]
    assert 'href="index_.html"' in index.read_text(encoding="utf-8")


def test_with_a_token_only_those_who_have_it() -> None:
    password = base64.b64encode(f"me:{TOKEN}".encode()).decode()
    with serving(lambda path: (200, "seen"), TOKEN) as url:
        status, headers, body = ask(url)
        assert (status, "seen" in body) == (401, False)
        assert headers["www-authenticate"].startswith("Basic")
        assert ask(url, Authorization=f"Basic {password}")[::2] == (200, "seen")
        assert ask(url, Authorization=f"Bearer {TOKEN}")[0] == 200
        for wrong in (f"Bearer {TOKEN}x", "Basic ???", "Basic bWU6", f"Digest {TOKEN}", "Bearer ü"):
            assert not has_token(wrong, TOKEN)
    assert not has_token(f"Bearer {TOKEN}", f"{TOKEN}\udcff")  # a variable that is no UTF-8


@pytest.mark.parametrize(("host", "token"), [("0.0.0.0", ""), ("0.0.0.0", "short"), ("::", "")])
def test_beyond_loopback_a_token_is_needed(host: str, token: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="HERORUN_SERVE_TOKEN"):
        serve_pages(FleetPages(tmp_path), host, 0, token, pytest.fail)


@pytest.mark.thorough
def test_a_run_that_crashed_has_its_page_and_one_that_cannot_be_read_hides_no_other(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    clock = [0.0]
    pages = FleetPages(story.work, lambda: clock[0])
    with serving(pages.page) as url:
        status, _, fleet = ask(url)
        assert status == 200 and f'href="/runs/{SLUG}"' in fleet
        status, _, one = ask(url, f"/runs/{SLUG}")
        assert status == 200 and mentions(one, "connect-src", "All runs", "tiny-2")
        assert ask(url, "/runs/nobody")[0] == 404 and ask(url, "/runs/../etc")[0] == 404

        (story.work / "runs" / "tiny.toml").write_text("slug = [")
        assert ask(url)[2] == fleet  # as it was a moment ago
        clock[0] += RUN_EVERY
        status, _, fleet = ask(url)
        assert status == 200 and mentions(fleet, "1 cannot", "tiny.toml")
        (story.work / ".git").rename(story.work / "gone")
        clock[0] += RUN_EVERY
        for path in ("/", f"/runs/{SLUG}"):
            status, _, one = ask(url, path)
            assert status == 503 and mentions(one, "cannot") and "tiny-2" not in one
        (story.work / "gone").rename(story.work / ".git")


@pytest.mark.thorough
def test_the_same_pages_are_written_for_a_static_host(story: Story, capsys: CAPTURE) -> None:
    story.run_to_success()
    capsys.readouterr()
    assert story.herorun("report", "--all") == 2
    assert story.herorun("report", "--all", SLUG, "--out", "pages") == 2
    assert story.herorun("report", "--all", "--out", "pages") == 0
    folder = story.work / "pages"
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", f"{SLUG}.html"]
    index, one = ((folder / name).read_text() for name in ("index.html", f"{SLUG}.html"))
    assert f'href="{SLUG}.html"' in index and 'href="index.html"' in one
    assert mentions(index, "1 run: 1 finished") and "data-poll" not in index + one


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as chromium_browser:
        yield chromium_browser


LOOKS = "Number(document.documentElement.dataset.looks || 0)"
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"


def look_once(chromium: Browser) -> None:
    """Let the page ask once, and wait until it has its answer."""
    before = chromium.run(LOOKS)
    chromium.run(LOOK)
    script = f"""new Promise((done) => {{
      const wait = () => {LOOKS} > {before} ? done(true) : setTimeout(wait, 20);
      wait();
    }})"""
    assert chromium.run(script)


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_it_polls_keeps_the_focus_and_says_that_nobody_answers(
    chromium: Browser, dark: bool
) -> None:
    answers = [page(GOOD, poll=3600), page(GOOD, DOWN, poll=3600)]
    with serving(lambda path: (200, answers[0])) as url:
        chromium.open(f"{url}/", 400, dark=dark)
        assert chromium.run("document.documentElement.scrollWidth") == 400
        back = chromium.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(int(n) for n in re.findall(r"\d+", back)) < 150) is dark
        roles = chromium.ask("Accessibility.getFullAXTree")["nodes"]
        assert {"list", "listitem", "main", "banner", "link", "progressbar"} <= {
            node["role"]["value"] for node in roles if "role" in node
        }
        chromium.run("document.querySelector('a[href=\"/runs/good\"]').focus()")
        assert chromium.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        answers.pop(0)
        look_once(chromium)
        assert chromium.run("document.title").startswith("2 runs: 1 down")
        assert chromium.run("document.querySelector('h2 a').textContent") == "bad"
        assert chromium.run("document.activeElement.getAttribute('href')") == "/runs/good"
        assert chromium.complaints == []
        assert {urlsplit(request).netloc for request in chromium.requests} == {urlsplit(url).netloc}
    look_once(chromium)
    assert chromium.run("document.title").startswith("[no answer]")
    assert mentions(chromium.run("document.getElementById('lost').textContent"), "No answer", "old")
    assert chromium.run("document.getElementById('lost').getBoundingClientRect().height") > 0


@pytest.mark.thorough
def test_the_command_says_its_address_and_ends_when_interrupted(story: Story) -> None:
    assert story.init() == 0
    argv = [sys.executable, "-m", "herorun", "-C", str(story.work), "serve", "--listen"]
    process = subprocess.Popen([*argv, "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = re.search(r"http://[\d.:]+/", process.stderr.readline())
        assert address is not None
        status, _, fleet = ask(address[0])
        assert status == 200 and mentions(fleet, "1 run: 1 initialised")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.communicate()
