"""A new contract begins with what `[tool.herorun.init]` says, and says from where."""

import tomllib

import pytest

from herorun.core.errors import WrongUse
from herorun.operations.record.contract_template import FROM, fill_template
from herorun.system.templates import template
from wording import mentions

TEMPLATE_OPTIONS = {
    "dri": "@dri",
    "output_root": "gs://bucket/runs/",
    "scheduler": "slurm",
    "entity": "team",
    "project": "hero",
    "repo": "owner/name",
}


def test_nothing_said_is_the_template_as_it_stands() -> None:
    assert fill_template(template("run.toml"), {}) == template("run.toml")


def test_each_setting_stands_in_its_table_and_says_where_it_is_from() -> None:
    text = fill_template(template("run.toml"), TEMPLATE_OPTIONS)
    document = tomllib.loads(text)
    assert document["dri"] == "@dri"
    assert document["output"] == {
        "root": "gs://bucket/runs/$slug",
        "temporary_root": "gs://bucket/runs/$slug-temporary",
    }
    assert document["scheduler"] == {"kind": "slurm"}
    assert {**document["tracker"], "id": "", "name": ""} == {
        "kind": "wandb",
        "entity": "team",
        "project": "hero",
        "id": "",
        "name": "",
        "resume": "allow",
    }
    assert document["issue"] == {"kind": "github", "repo": "owner/name"}
    assert text.count(FROM) == 9


@pytest.mark.parametrize(("key", "missing"), [("entity", "project"), ("project", "entity")])
def test_half_of_a_tracker_is_none(key: str, missing: str) -> None:
    with pytest.raises(WrongUse) as error:
        fill_template(template("run.toml"), {key: "team"})
    assert mentions(str(error.value), f"lacks {missing}", "wandb")


def test_another_kind_gets_the_keys_that_are_set() -> None:
    """Also one of an installed package: it is validated when the contract is read."""
    settings = {"tracker": "mlflow", "project": "hero", "issue": "theirs", "repo": "owner/name"}
    tables = tomllib.loads(fill_template(template("run.toml"), settings))
    assert tables["tracker"]["kind"] == "mlflow" and "entity" not in tables["tracker"]
    assert tables["tracker"]["project"] == "hero" and "path" not in tables["tracker"]
    assert tables["issue"] == {"kind": "theirs", "repo": "owner/name"}
