"""What a tick saw comes back from what is kept of it: every kind of evidence, whatever is in it."""

import json
import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from builders import NOON, a_contract, a_job, an_excursion, healthy, some_metrics
from herorun.core import evidence as types
from herorun.core.canonical_json import canonical
from herorun.core.check import Gate, name_of
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Job,
    JobState,
    Metrics,
    Nothing,
    Offered,
    OwnSecrets,
    PriorLaunch,
    RecordedLaunch,
    Sourced,
    TrackerIdentity,
    Unavailable,
)
from herorun.core.evidence_log import (
    KINDS,
    LostEvidence,
    canonical_facts,
    decode_evidence,
    digests,
    encode_evidence,
    evidence_line,
)
from herorun.discover import checks, sources

# Two halves of one character beside each other are that character once they are written: nothing
# that was read holds them apart.
HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
TEXTS = st.text(st.characters(min_codepoint=1, max_codepoint=0x1F9FF), max_size=8).filter(
    lambda text: not HALVES.search(text)
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(TEXTS, JSON, max_size=3)
ANYTHING = {
    TrackerIdentity: {"config": TABLES},
    Offered: {"hardware": TABLES},
    PriorLaunch: {"plan": TABLES},
}
ANYTHING[RecordedLaunch] = {"plan": TABLES}
st.register_type_strategy(str, TEXTS)
BEGIN, END = (datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (1000, 9000))
# beyond them a time is refused
st.register_type_strategy(datetime, st.datetimes(BEGIN, END, timezones=st.just(UTC)))
st.register_type_strategy(timedelta, st.timedeltas(timedelta(days=-9999), timedelta(days=9999)))
st.register_type_strategy(RecordedLaunch, st.builds(RecordedLaunch, plan=TABLES))


def back(evidence: dict[Any, Any]) -> Any:
    """Through the text that is written, and the digests that are journalled."""
    document = json.loads(canonical(encode_evidence(evidence)))
    return decode_evidence(document, digests(canonical_facts(document)))


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind not in (Contract, Sourced)], ids=name_of
)
def test_every_kind_of_evidence_comes_back(kind: type[Any]) -> None:
    @settings(
        max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.builds(kind, **ANYTHING.get(kind, {})))
    def holds(value: Any) -> None:
        names = encode_evidence({kind: value})
        (values,) = back({kind: value}).values()
        assert canonical(encode_evidence({kind: values})) == canonical(names)
        if "nan" not in canonical(names) and "scrubbed" not in canonical(names):
            assert values == value and type(values) is type(value)

    holds()


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 0.1, 1e308, 5e-324])
def test_a_number_comes_back_also_where_it_is_none(value: float) -> None:
    metrics = some_metrics(last={"loss": value}, spikes=(an_excursion(3, peak=value),))
    copy = back({Metrics: metrics})[Metrics]
    assert math.isnan(value) or copy == metrics
    assert str(copy.last["loss"]) == str(copy.spikes[0].peak) == str(value)


@pytest.mark.parametrize(
    "value", [Nothing("no row yet"), Unavailable("503"), a_job(JobState.FAILED)]
)
def test_a_value_none_and_a_gap_are_distinguished(value: Any) -> None:
    assert back({Job: value}) == {Job: value}


def test_the_contract_comes_back_as_it_was_signed() -> None:
    contract = a_contract(
        babysit={"thresholds": {"loss-spike": {"sigmas": math.inf}}, "cadence": "570s"},
        waiver=[{"check": "crashed", "reason": "r", "approved_by": "@dri", "expires": NOON}],
    )
    copy = back({Contract: contract})[Contract]
    assert (copy.babysit.cadence, copy.waiver) == (contract.babysit.cadence, contract.waiver)
    # which the check's own limits read
    assert copy.babysit.thresholds["loss-spike"]["sigmas"] == "inf"
    assert encode_evidence({Contract: copy}) == encode_evidence({Contract: contract})


def test_all_that_a_health_check_asks_for_is_kept() -> None:
    needs = {need for check in checks(Gate.HEALTH) for need in check.needs}
    assert {name_of(need) for need in needs} <= KINDS.keys()
    assert {name_of(kind) for kind in healthy(Gate.HEALTH) if kind in needs} == encode_evidence(
        healthy(Gate.HEALTH)
    ).keys() & {name_of(need) for need in needs}


def test_every_evidence_that_a_source_reads_has_a_name_of_its_own() -> None:
    names = {kind for kind in KINDS.values() if kind.__module__.startswith(types.__name__)}
    read = {kind for kind in sources() if kind.__module__.startswith(types.__name__)}
    assert read <= names and len({name_of(kind) for kind in names}) == len(names)


def test_the_line_of_evidence_is_canonical() -> None:
    record = encode_evidence({**healthy(Gate.HEALTH), Job: a_job(reason='"é\n')})
    at = "2026-11-21T00:02:27Z"
    line = evidence_line(at, canonical_facts(record))
    assert line == canonical({"at": at, "evidence": record})


def test_adapters_are_no_evidence() -> None:
    assert encode_evidence({object: object(), Job: a_job()}).keys() == {"Job"}


def test_a_secret_is_kept_nowhere_and_the_digest_is_of_what_is_kept() -> None:
    job = a_job(JobState.FAILED, reason="token=s3cr3tvalue99 was refused")
    record = encode_evidence({Job: job, OwnSecrets: OwnSecrets(frozenset({"WANDB_API_KEY"}))})
    assert "s3cr3tvalue99" not in canonical(record)
    assert (
        decode_evidence(record, digests(canonical_facts(record)))[Job].reason
        == "token=[scrubbed] was refused"
    )


@pytest.mark.parametrize("change", ["changed", "removed", "added"])
def test_what_is_not_what_was_seen_is_lost(change: str) -> None:
    record = encode_evidence({Job: a_job(), Metrics: some_metrics()})
    digest_by_kind = digests(canonical_facts(record))
    if change == "changed":
        record["Job"]["value"]["id"] = "another"
    elif change == "removed":
        del record["Job"]
    else:
        del digest_by_kind["Job"]
    with pytest.raises(LostEvidence, match=r"\bjob\b"):
        decode_evidence(record, digest_by_kind)


def test_what_this_version_reads_otherwise_is_lost_and_what_it_does_not_know_is_left_out() -> None:
    fields = {"Job": {"value": {"id": "1", "state": "sleeping", "instance": "tiny-1"}}}
    with pytest.raises(LostEvidence, match=r"cannot.*read"):
        decode_evidence(fields, digests(canonical_facts(fields)))
    strange = {"Moon": {"value": {"phase": "full"}}}
    assert decode_evidence(strange, digests(canonical_facts(strange))) == {}
