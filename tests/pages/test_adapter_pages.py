"""Every scheduler and tracker has a page, and the table that its page shows is one that it
takes.
"""

import re
import tomllib
from pathlib import Path

import pytest
import tomli_w

from herorun import adapters
from herorun.core.contract import parse_contract
from herorun.core.ports import Place

DOCS = Path(__file__).parents[2] / "docs"
KINDS = [
    (port, kind) for port in ("schedulers", "trackers") for kind in adapters.adapter_kinds(port)
]
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
REST = """\
slug = "tiny"
goal = "show the whole path"
stop_when = "the loss rises"
final_step = 200
command.argv = ["python", "train.py"]
output.root = "/data/tiny"
"""


@pytest.mark.parametrize(("port", "kind"), KINDS)
def test_a_back_end_has_a_page_whose_contract_is_valid(
    port: str, kind: str, tmp_path: Path
) -> None:
    place = Place("tiny", str(tmp_path), "/data/tiny", str(tmp_path))
    page = (DOCS / port / f"{kind}.md").read_text(encoding="utf-8")
    name = port.removesuffix("s")
    blocks = [text for text in BLOCK.findall(page) if f"[{name}]" in text]
    assert blocks, f"docs/{port}/{kind}.md shows no [{name}]"
    for text in blocks:
        table = tomllib.loads(text)[name]
        assert table["kind"] == kind
        whole = tomli_w.dumps({**tomllib.loads(REST), **tomllib.loads(text)})
        signed_table = getattr(parse_contract(whole, "the page"), name)
        stated_options = {
            "id": "tiny",
            "name": "tiny",
            **signed_table.model_dump(exclude=set(signed_table.options), exclude_none=True),
        }
        adapter = adapters.connect(port, kind, signed_table.options, place, stated_options)
        assert callable(adapter.read if port == "trackers" else adapter.submit)
    assert f"{kind}.md" in (DOCS / f"{port}.md").read_text(encoding="utf-8")
