"""How preflight shows the request that a launch would send."""

import json

from herorun.output.preflight import _head_and_body

ADDRESS = "POST /apis/batch/v1/namespaces/heroes/jobs of prod"
BODY = {"kind": "Job", "spec": {"backoffLimit": 0}}


def test_a_document_is_parted_from_its_address_and_indented() -> None:
    head, body = _head_and_body([ADDRESS, json.dumps(BODY)])
    assert head == [ADDRESS] and len(body) > 1 and json.loads("\n".join(body)) == BODY


def test_a_script_stays_as_it_is() -> None:
    for lines in (["$ sbatch job.sh"], ["#!/bin/sh", "true"], ["#!/bin/sh", "{ echo a; }"]):
        assert _head_and_body(lines) == (lines, ())
