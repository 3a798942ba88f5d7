"""Build the site: `python docs/build_site.py` copies the pages to build/site, lets zensical print
them, and looks at the result.

The pages stay Markdown that reads well on GitHub; what the site needs otherwise is changed in the
copy: README.md is its first page, a link to a file of the tree leads to a copy of it, and of
headings with one name each gets the number that GitHub gives it. A link that leads nowhere, and a
page that would load anything from elsewhere, is a failure.
A page that docs/zensical.toml does not name stands under "More".
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import tomli_w

TOP = Path(__file__).resolve().parents[1]
BUILD = TOP / "build" / "site"
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
LOADING = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
COLOUR = re.compile(r"\x1b\[[\d;]*m")
ELSEWHERE = re.compile(r"[a-z]+:|//")
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}


def main() -> int:
    """0: built; 1: zensical warned, a link leads to nothing, or a page loads something from
    elsewhere.
    """
    stage(BUILD)
    program = Path(sys.executable).parent / "zensical"
    argv = [str(program), "build", "--clean", "--strict"]
    build = subprocess.run(argv, cwd=BUILD, capture_output=True, text=True, check=False)
    if build.returncode:
        # What it found comes first, in colour letter by letter; its own traceback adds nothing
        # more.
        errors = COLOUR.sub("", build.stdout + build.stderr).partition("Traceback")[0]
        print(errors, file=sys.stderr)
        return 1
    faults = sorted(set(faults_of(BUILD / "html")))
    for line in faults:
        print(line, file=sys.stderr)
    if not faults:
        html = BUILD / "html"
        print(
            f"The site is in {html}: open index.html there; its search needs `python -m "
            f"http.server -d {html}`."
        )
    return 1 if faults else 0


def stage(folder: Path) -> None:
    """Copy the pages and the configuration to a fresh `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = page_names()
    for source, target in pages.items():
        path = folder / "pages" / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(folder, source, pages), encoding="utf-8")
    config = tomllib.loads((TOP / "docs" / "zensical.toml").read_text(encoding="utf-8"))
    nav = config["project"]["nav"]
    if more := sorted(set(pages.values()) - set(flat(nav))):
        nav.append({"More": more})
    (folder / "zensical.toml").write_text(tomli_w.dumps(config), encoding="utf-8")


def page_names() -> dict[str, str]:
    """Each page of the tree, and its name on the site."""
    docs = sorted((TOP / "docs").rglob("*.md"))
    return OTHERS | {
        path.relative_to(TOP).as_posix(): path.relative_to(TOP / "docs").as_posix() for path in docs
    }


def flat(nav: object) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case list():
            for part in nav:
                yield from flat(part)
        case dict():
            for part in nav.values():
                yield from flat(part)


def page(folder: Path, source: str, pages: dict[str, str]) -> str:
    """The text of a page for the site, outside its blocks of code."""
    parts = FENCE.split((TOP / source).read_text(encoding="utf-8"))
    counts: dict[str, int] = {}
    prose = [
        name_anchor(LINK.sub(lambda m: link_target(folder, source, pages, m), part), counts)
        for part in parts[::2]
    ]
    parts[::2] = prose
    return "".join(parts)


def link_target(folder: Path, source: str, pages: dict[str, str], link: re.Match[str]) -> str:
    """A link between files of the tree as one between pages of the site."""
    opening, target, closing = link.groups()
    if "://" in target or target.startswith("mailto:"):
        return link[0]
    there = Path(os.path.normpath(Path(source).parent / target)).as_posix()
    name = pages.get(there) or copy_file(folder, there)
    return f"{opening}{os.path.relpath(name, Path(pages[source]).parent)}{closing}"


def copy_file(folder: Path, there: str) -> str:
    """A file that is no page lies on the site as it is; one that is missing is zensical's to
    say.
    """
    name = (
        there.removeprefix("docs/")
        if there.startswith("docs/")
        else f"files/{there.replace('/.', '/').lstrip('.')}"
    )
    if (TOP / there).is_file():
        (folder / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / there, folder / "pages" / name)
    return name


def name_anchor(prose: str, counts: dict[str, int]) -> str:
    """Of headings with one name the second is `name-1`, as on GitHub."""

    def name_heading(heading: re.Match[str]) -> str:
        name = re.sub(r"[^\w\- ]", "", heading[1].lower()).strip().replace(" ", "-")
        counts[name] = counts.get(name, -1) + 1
        return heading[0] if counts[name] == 0 else f"{heading[0]} {{#{name}-{counts[name]}}}"

    return HEADING.sub(name_heading, prose)


class Links(HTMLParser):
    """What a page links to and what it loads, in the order of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in LOADING and attributes.get("rel") != "canonical":
            self.loads.append(attributes.get(LOADING[tag], ""))
        if tag == "a":
            self.leads.append(attributes.get("href", ""))
        if "mermaid" in attributes.get("class", "").split():
            self.loads.append("https: the script of mermaid")


def faults_of(html: Path) -> Iterator[str]:
    """What a page loads from another host, and what it links to within the site and is not
    there.
    """
    for path in sorted(html.rglob("*.html")):
        page = path.relative_to(html)
        links = Links()
        links.feed(path.read_text(encoding="utf-8"))
        yield from (f"{page} loads {url}" for url in links.loads if ELSEWHERE.match(url))
        for url in (*links.loads, *links.leads):
            target = unquote(url.partition("#")[0].partition("?")[0])
            # The page for what is missing is shown at any address, and its links begin at the top
            # of the site.
            within = target and not ELSEWHERE.match(url) and page.name != "404.html"
            if within and not (path.parent / target).exists():
                yield f"{page} links to {url}, which is not there"


if __name__ == "__main__":
    sys.exit(main())
