"""Why herorun asks before it relaunches, or does not relaunch, by the kind of the objection."""

from collections.abc import Mapping

from herorun.core.recovery.diagnosis import (
    ROOT_BACK,
    ROOT_GONE,
    TEMPORARY_BACK,
    TEMPORARY_GONE,
)

NEEDS_FIX = frozenset({"code-bug", "fixed-once", "person"})  # a new start alone would fail again
QUESTION_REASONS: Mapping[str, str] = {
    "veto": "an alert forbids a relaunch",
    "never": 'the contract says [tracker] resume = "never"',
    "recovery": "[babysit] recovery leaves it to a person",
    "numeric": "its failure is numeric, such as NaN",
    "code-bug": "the failure needs a fix first",
    "fixed-once": "the same error came again after a fix",
    "person": "a relaunch alone does not fix this failure",
    "repeated": "the same failure came twice, without a new complete checkpoint in between",
    "no-progress": "it ended several times in a row without a new complete checkpoint",
    "budget": "the budget of relaunches is spent",
    "hours": "the budget of accelerator-hours is spent or cannot be counted",
    "tries": "its submission failed several times",
    "gate": "the launch checks refused it",
    ROOT_GONE: "its output root is gone",
    ROOT_BACK: "its output root was gone for a while",
    TEMPORARY_GONE: "its temporary root is gone",
    TEMPORARY_BACK: "its temporary root was gone for a while",
}
