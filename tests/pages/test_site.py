"""What docs/build_site.py changes in the pages for the site, and what it refuses of the result. CI
builds the site itself.
"""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from screens.notices import Notice

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> Any:
    spec = importlib.util.spec_from_file_location("build_site", TOP / "docs" / "build_site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def staged_folder(site: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site") / "site"
    site.stage(folder)
    return folder


def test_the_readme_is_the_first_page_and_its_links_lead_to_pages(staged_folder: Path) -> None:
    first = (staged_folder / "pages" / "index.md").read_text(encoding="utf-8")
    assert "](tutorial.md)" in first
    assert "](docs/" not in first


def test_a_file_of_the_tree_that_a_page_links_to_lies_on_the_site(staged_folder: Path) -> None:
    first = (staged_folder / "pages" / "index.md").read_text(encoding="utf-8")
    assert "](files/templates/watchdog.yml)" in first
    assert (staged_folder / "pages/files/templates/watchdog.yml").read_bytes() == (
        TOP / "templates/watchdog.yml"
    ).read_bytes()


def test_of_headings_with_one_name_the_second_has_the_anchor_of_github(staged_folder: Path) -> None:
    assert "### contract-drift {#contract-drift-1}\n" in (
        staged_folder / "pages/checks.md"
    ).read_text(encoding="utf-8")


def test_what_stands_in_a_block_of_code_is_left_alone(site: Any) -> None:
    assert site.name_anchor("# a\n", {"a": 0}) == "# a {#a-1}\n"
    assert "# What the tests and the checks" not in site.FENCE.sub(
        "", "```sh\n# What the tests and the checks\n```"
    )


def test_every_page_is_in_the_navigation(site: Any, staged_folder: Path) -> None:
    document = site.tomllib.loads((staged_folder / "zensical.toml").read_text(encoding="utf-8"))
    pages = list(site.flat(document["project"]["nav"]))
    assert len(pages) == len(set(pages))
    assert set(pages) == set(site.page_names().values())


@pytest.mark.parametrize(
    "html",
    [
        '<a href="there.html#x">',
        '<a href="https://example.org">',
        '<a href="gone.html">',
        '<img src="gone.png">',
        '<script src="https://cdn.example.org/x.js">',
        '<link rel="stylesheet" href="//fonts.example.org">',
        '<pre class="mermaid">',
    ],
)
def test_a_page_that_leads_nowhere_or_loads_from_elsewhere_is_refused(
    site: Any, tmp_path: Path, html: str, notice: Notice
) -> None:
    (tmp_path / "there.html").touch()
    (tmp_path / "page.html").write_text(html)
    assert "\n".join(site.faults_of(tmp_path)) == notice
