"""The W&B truth table: what must come out of each of its 84 cases, written down here a second time,
with the reason.
"""

import pytest

from herorun.core.evidence import TrackerState
from herorun.core.identity.resume_matrix import POLICIES, AnswerWeight, Intent, judge_resume
from screens.notices import Notice

# One line for each intent and state: the outcomes under allow, must, never, auto.
#   +  goes ahead      ~  goes ahead, and is told      x  fails      ?  nobody could look
RESUME_TABLE = """
new     absent       + x + ~   must wants a run that is there; auto goes by one machine's file
new     running      x x x x   somebody else logs there now: a second writer
new     finished     x x x x   somebody else's run would be appended to; never refuses the id
new     crashed      x x x x   the same
new     failed       x x x x   the same
new     deleted      x x x x   a deleted id is never given again
new     unreachable  ? ? ? ?   no answer is no permission

resume  absent       x x x x   deleted or mistyped: all but must would begin an empty run, must refuses to begin
resume  running      x x x x   something still logs there, or W&B has not noticed the end: wait
resume  finished     + + x ~   the run continues in it; never refuses; auto goes by one machine's file
resume  crashed      + + x ~   the same
resume  failed       + + x ~   the same
resume  deleted      x x x x   a deleted id is never given again
resume  unreachable  ? ? ? ?   no answer is no permission

fork    absent       + x + ~   a fork begins a new run; must wants one that is there
fork    running      x x x x   the id is taken
fork    finished     x x x x   the same
fork    crashed      x x x x   the same
fork    failed       x x x x   the same
fork    deleted      x x x x   a deleted id is never given again
fork    unreachable  ? ? ? ?   no answer is no permission
"""  # noqa: E501  # a text that is read as it stands
WEIGHTS = {
    "+": AnswerWeight.PASS,
    "~": AnswerWeight.WARN,
    "x": AnswerWeight.FAIL,
    "?": AnswerWeight.UNKNOWN,
}
LINES = [line.split()[:6] for line in RESUME_TABLE.splitlines() if line]
CASES = [
    (Intent(intent), TrackerState(state), policy, WEIGHTS[sign])
    for intent, state, *signs in LINES
    for policy, sign in zip(("allow", "must", "never", "auto"), signs, strict=True)
]


def sentence(intent: str, state: str, policy: str) -> str:
    sentence = judge_resume(Intent(intent), TrackerState(state), policy).sentence
    return sentence.format(id="tiny", state=state, policy=policy, tracker="W&B")


def test_there_are_84_cases_and_no_other() -> None:
    assert (
        len({case[:3] for case in CASES}) == 84 == len(Intent) * len(TrackerState) * len(POLICIES)
    )


def test_each_case_has_its_weight() -> None:
    weights = [(*case[:3], judge_resume(*case[:3]).weight) for case in CASES]

    assert weights == [tuple(case) for case in CASES]


def test_each_case_is_one_sentence() -> None:
    for intent, state, policy, _ in CASES:
        judgement = judge_resume(intent, state, policy)
        text = judgement.sentence.format(id="tiny", state=state, policy=policy, tracker="W&B")
        assert "tiny" in text and "{" not in text, (intent, state, policy)
        assert len(text) < 200 and not text.endswith("."), text  # somebody tired reads it


def test_what_fails_says_what_to_do() -> None:
    """A failure names a mend after its colon or semicolon."""
    verbs = ("choose", "use", "say", "look", "see", "retry", "ask", "check", "make sure")
    for *case, weight in CASES:
        if weight is not AnswerWeight.PASS:
            _, fix = sentence(*case).replace(";", ":").split(":", 1)
            assert any(verb in fix for verb in verbs), (case, fix)


@pytest.mark.parametrize(
    "case",
    [
        ("resume", "absent", "allow"),
        ("resume", "absent", "must"),
        ("resume", "finished", "never"),
        ("resume", "running", "allow"),
        ("new", "running", "allow"),
        ("new", "finished", "allow"),
        ("new", "finished", "never"),
        ("new", "deleted", "allow"),
        ("new", "absent", "auto"),
        ("fork", "absent", "allow"),
        ("fork", "crashed", "allow"),
    ],
)
def test_the_sentence_says_what_would_happen(case: tuple[str, str, str], notice: Notice) -> None:
    assert sentence(*case) == notice
