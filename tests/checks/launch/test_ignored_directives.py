from builders import answer, answers
from herorun.checks.launch.ignored_directives import ignored_directives
from herorun.core.evidence import Directive, IgnoredDirectives, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

LINES = (
    Directive(2, "--nodes=64"),
    Directive(3, "--gpus-per-node=8"),
    Directive(4, "--exclusive"),
    Directive(5, "-c 16"),
)


def test_each_script_is_named_with_the_lines_that_the_request_leaves_out():
    scripts = {"train.sh": LINES, "resume.sh": LINES[:1], "more.sh": ()}
    verdicts = answers(ignored_directives, IgnoredDirectives(scripts))
    assert [(each.outcome, each.subject) for each in verdicts] == [
        (Outcome.FAIL, "resume.sh"),
        (Outcome.FAIL, "train.sh"),
    ]
    assert mentions(verdicts[0].message, "--nodes=64", "resume.sh:2")
    assert mentions(verdicts[1].message, "--nodes=64", "train.sh:2", "--exclusive", "1 more")
    assert verdicts[1].details[-1] == "-c 16 (train.sh:5)"


def test_scripts_without_such_lines_pass():
    verdict = answer(ignored_directives, IgnoredDirectives({"train.sh": ()}))
    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "train.sh")


def test_a_script_that_only_the_job_can_find_is_unknown_with_the_others():
    unread_paths = {"~/train.sh": "only the job knows this path"}
    verdicts = answers(ignored_directives, IgnoredDirectives({"setup.sh": ()}, unread_paths))
    assert [(each.outcome, each.subject) for each in verdicts] == [
        (Outcome.PASS, ""),
        (Outcome.UNKNOWN, "~/train.sh"),
    ]
    verdict = answer(ignored_directives, IgnoredDirectives({}, unread_paths))
    assert verdict.outcome is Outcome.UNKNOWN


def test_without_a_script_there_is_nothing_to_ask():
    verdict = answer(ignored_directives, {IgnoredDirectives: Nothing("no script")})
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_script_that_cannot_be_read_is_unknown():
    verdict = answer(ignored_directives, {IgnoredDirectives: Unavailable("permission denied")})
    assert verdict.outcome is Outcome.UNKNOWN
