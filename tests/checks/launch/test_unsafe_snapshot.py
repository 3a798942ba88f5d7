from builders import a_contract, answers
from herorun.checks.launch.unsafe_snapshot import unsafe_snapshot
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Snapshot, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def ask(*changes, **result):
    fields = {
        "commit": "c0",
        "tree": "t0",
        "diff": "sha256:d0",
        "files": ("train.py",),
        "bytes": 653,
        **result,
    }
    return answers(unsafe_snapshot, Snapshot(**fields), *changes)


def test_a_run_without_one_is_asked_nothing():
    (verdict,) = answers(unsafe_snapshot)

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_edits_without_a_secret_pass():
    (verdict,) = ask()

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "1 file", "653 bytes")


def test_each_file_with_a_secret_fails_and_names_its_lines():
    files = ("a.env", "odd:3", "weights.bin")
    env, odd, binary = ask(files=files, secrets=("a.env:1", "a.env:7", "odd:3:2", "weights.bin"))

    assert (env.outcome, env.subject) == (Outcome.FAIL, "a.env")
    assert mentions(env.message, "a.env", "lines", "1", "7")
    assert env.details == ("a.env:1", "a.env:7")
    assert (odd.subject, odd.details) == ("odd:3", ("odd:3:2",))
    assert mentions(binary.message, "weights.bin", "secret")


def test_more_than_the_cap_fails_and_says_how_much_is_allowed():
    contract = a_contract(code={"snapshot_max_mb": 2})
    (verdict,) = ask(contract, commit="", files=("data.bin",), bytes=2_100_000)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "size")
    assert mentions(verdict.message, "2.1 MB", "data.bin", "[code] snapshot_max_mb = 2")


def test_edits_that_nobody_could_take_are_unknown():
    (verdict,) = answers(unsafe_snapshot, {Snapshot: Unavailable("git is away")})

    assert verdict.outcome is Outcome.UNKNOWN


def test_a_relaunch_is_about_what_was_admitted():
    assert unsafe_snapshot.at_relaunch is AtRelaunch.SKIP


def test_no_lenient_mode_lets_it_pass():
    assert unsafe_snapshot.always
