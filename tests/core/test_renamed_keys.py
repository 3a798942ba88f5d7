"""The earlier names of contract keys: a contract that was signed with them stays valid."""

import re
from pathlib import Path

import pytest

import herorun
from builders import a_contract
from herorun import adapter_declarations, adapters
from herorun.core.contract import (
    BabysitTable,
    ChainTable,
    Contract,
    Logbook,
    Notify,
    PatrolTable,
    RenamedKeys,
    WaiverTable,
    parse_contract,
    plan_part,
)
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from wording import mentions

TABLES: list[type[RenamedKeys]] = [
    BabysitTable,
    ChainTable,
    Logbook,
    Notify,
    PatrolTable,
    WaiverTable,
    *(
        options
        for port in ("schedulers", "schedulers.external")
        for options in adapter_declarations.adapter_options(port).values()
        if issubclass(options, RenamedKeys)
    ),
]
RENAMED_KEYS = [(table, old, new) for table in TABLES for old, new in table.RENAMED.items()]
HEAD = 'slug = "tiny"\n[command]\nargv = ["x"]\n[output]\nroot = "/data/tiny"\n'


def test_a_renamed_key_is_one_that_there_is() -> None:
    for table, old, new in RENAMED_KEYS:
        there = new in table.model_fields and old not in table.model_fields
        assert there, (table.__module__, old)


def test_the_code_names_a_key_by_its_present_name() -> None:
    """As in "[scheduler] slurm_bin"."""
    tables = {each: each.__name__.removesuffix("Table").lower() for each in TABLES[:6]}
    names = [rf"\[{tables.get(table, 'scheduler')}\] {old}" for table, old, _ in RENAMED_KEYS]
    earlier_name = re.compile(rf"({'|'.join(names)})\b")
    lines = [
        (path.name, line.strip())
        for path in sorted(Path(herorun.__file__).parent.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if earlier_name.search(line)
    ]
    assert lines == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('[logbook]\nquiet = "each"', "logbook.quiet_ticks"),
        ('[notify]\nsecond = ["X"]', "notify.secondary"),
        ('[notify]\nsecond_after = "1h"', "notify.secondary_after"),
        ('[babysit]\ncatalogue = "own.toml"', "babysit.signatures"),
        ('[patrol]\ndone_words = "all done"', "patrol.success_pattern"),
        ("[patrol]\nmemory = 0.5", "patrol.memory_fraction"),
        ('[chain]\nafter_words = "done"', "chain.after_pattern"),
        ('[chain]\npush = "ring"', "chain.notify_command"),
    ],
)
def test_a_contract_with_an_earlier_name_is_read(text: str, path: str) -> None:
    table, key = path.split(".")
    old = text.partition("\n")[2].partition(" ")[0]
    now = parse_contract(f"{HEAD}{text.replace(old, key)}\n", "tiny.toml")
    then = parse_contract(f"{HEAD}{text}\n", "tiny.toml")
    assert then == now != Contract.model_validate(a_contract().data_for_toml())
    assert then.data_for_toml()[table].keys() == {key}


@pytest.mark.parametrize("key", ["slurm", "slurm_job"])
def test_the_number_of_a_slurm_job_stays_one_whatever_submits_the_runs_own(key: str) -> None:
    text = f'{HEAD}[scheduler]\nkind = "ssh"\nhost = "box"\nfolder = "/j"\n[patrol]\n'
    now = parse_contract(f'{text}job = "7"\njob_scheduler = "slurm"\n', "tiny.toml")
    assert parse_contract(f'{text}{key} = "7"\n', "tiny.toml") == now
    assert now.patrol.job_scheduler == "slurm"


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(WrongUse) as error:
        parse_contract(f'{HEAD}[logbook]\nquiet = "each"\nquiet_ticks = "hourly"\n', "tiny.toml")
    assert mentions(str(error.value), "`quiet`", "earlier", "`quiet_ticks`")


def test_two_names_of_a_key_hide_no_other_fault() -> None:
    tables = """\
[logbook]
quiet = "each"
quiet_ticks = "sometimes"
brnch = "b"
[[chain.stage]]
name = "next"
run = 7
[patrol]
memory = 0.5
memory_fraction = 0.6
success_pattern = "["
"""
    with pytest.raises(WrongUse) as error:
        parse_contract(f"{HEAD}{tables}", "tiny.toml")
    message = str(error.value)
    assert mentions(message, "line 7", "[logbook]", "`quiet`", "`quiet_ticks`", "line 8")
    assert mentions(
        message, "`logbook.quiet_ticks`", "line 9", "`logbook.brnch`", "line 12", "chain"
    )
    assert mentions(message, "line 14", "[patrol]", "`memory`", "line 16", "success_pattern")


def test_two_names_of_an_adapters_key_hide_no_other_fault() -> None:
    place = Place("tiny", "state", "/data/tiny", ".")
    options = {"start_within": "7s", "start_timeout": "soon", "grce": "1s"}
    with pytest.raises(WrongUse) as error:
        adapters.connect("schedulers", "local", options, place)
    assert mentions(str(error.value), "`start_within`", "`start_timeout`", "`grce`")


def test_the_options_of_an_adapter_keep_the_digest_of_a_plan_that_was_admitted() -> None:
    """The plan holds what was signed; the adapter gets the present names."""
    text = f'{HEAD}[scheduler]\nkind = "local"\nstart_within = "7s"\n'
    contract = parse_contract(text, "tiny.toml")
    assert plan_part(contract)["scheduler"]["start_within"] == "7s"


@pytest.mark.parametrize("key", ["programs", "slurm_bin"])
def test_a_program_under_an_earlier_name_needs_trust_as_well(key: str) -> None:
    items = adapter_declarations.trust_items("scheduler", "schedulers", "slurm", {key: "/opt/bin"})
    assert len(items) == 1 and mentions(items[0], "slurm_bin", "/opt/bin")


def test_the_values_of_ssh_code_have_one_word_with_the_other_schedulers() -> None:
    options = adapter_declarations.adapter_options("schedulers")["ssh"]
    fields = {"host": "box", "folder": "/jobs"}
    words = {v: options(**fields, code=v).code for v in ("ship", "there", "upload", "shared")}
    assert words == {
        "ship": "upload", "there": "shared", "upload": "upload", "shared": "shared",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[notify]\nsecond_after = "soon"', "line 7: `notify.second_after`"),
        ('[notify]\nsecondary_after = "soon"', "line 7: `notify.secondary_after`"),
        ("[patrol]\nmemory = 7", "line 7: `patrol.memory`"),
        ('[[waiver]]\nunknown = "perhaps"', "line 7: `waiver.0.unknown`"),
    ],
)
def test_a_wrong_value_is_reported_by_the_key_that_the_file_has(text: str, words: str) -> None:
    with pytest.raises(WrongUse) as error:
        parse_contract(f"{HEAD}{text}\n", "runs/tiny.toml")
    assert words in str(error.value)


def test_a_wrong_option_is_reported_by_the_key_that_the_contract_has() -> None:
    place = Place("tiny", "state", "/data/tiny", ".")
    with pytest.raises(WrongUse, match="`programs`: "):
        adapters.connect("schedulers", "slurm", {"programs": 3}, place)
    with pytest.raises(WrongUse, match="`slurm_bin`: "):
        adapters.connect("schedulers", "slurm", {"slurm_bin": 3}, place)


def test_trust_shows_no_half_of_a_key_that_is_there_twice() -> None:
    both = {"programs": "/opt/one", "slurm_bin": "/opt/two"}
    with pytest.raises(WrongUse, match=r"\[scheduler\] slurm: `programs`.* `slurm_bin`"):
        adapter_declarations.trust_items("scheduler", "schedulers", "slurm", both)
