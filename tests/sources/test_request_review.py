"""What a scheduler says of a request, where it can be asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_plan
from herorun.core.evidence import Directive, IgnoredDirectives, Nothing, Offered, RequestReview
from herorun.core.plan import Plan
from herorun.sources.request_review import (
    MAX_SCRIPT_BYTES,
    read_ignored_directives,
    read_offered,
    read_request_review,
)
from herorun.system.git import Repository


class Answering:
    def review(self, plan: Plan, slug: str) -> RequestReview:
        return RequestReview(where=f"the cluster of {slug}")

    def offers(self, plan: Plan) -> Offered:
        return Offered({"count": 8}, 3600.0)

    def ignored_directives(self, argv: Sequence[str], script: str) -> tuple[Directive, ...] | None:
        if argv[0] == "submit":
            return None
        if argv[0] == "quiet":
            return ()
        lines = enumerate(script.splitlines(), 1)
        return tuple(Directive(number, line) for number, line in lines if argv and "#" in line)


SCHEDULER: Any = Answering()
SILENT: Any = object()


def test_a_scheduler_that_can_be_asked_is_asked() -> None:
    review = read_request_review(SCHEDULER, a_plan(), a_contract())
    assert review == RequestReview(where="the cluster of tiny")
    assert read_offered(SCHEDULER, a_plan()) == Offered({"count": 8}, 3600.0)


def test_one_that_cannot_is_not(repository: Repository) -> None:
    assert isinstance(read_request_review(SILENT, a_plan(), a_contract()), Nothing)
    assert isinstance(read_offered(SILENT, a_plan()), Nothing)
    assert isinstance(read_ignored_directives(SILENT, a_contract(), repository), Nothing)


# --- the scripts that the command names -----------------------------------------------------------

TOKEN = "hf_" + "aB3" * 11


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "train.sh").write_text("#one\n")
    (tmp_path / "jobs" / "resume.sh").write_text(f"\n#two {TOKEN}\n")
    (tmp_path / "jobs" / "data.bin").write_bytes(b"#\0")
    (tmp_path / "jobs" / "long.txt").write_text("-" * MAX_SCRIPT_BYTES + "\n#three\n")
    (tmp_path / "train.sh").write_text("#another\n")
    return Repository(tmp_path, tmp_path / ".git")


def directives_of(repository: Repository, *argv: str, **command: Any) -> Any:
    contract = a_contract(command={"argv": argv, "cwd": "jobs", **command})
    return read_ignored_directives(SCHEDULER, contract, repository)


def scripts_of(repository: Repository, *argv: str, **command: Any) -> Any:
    answer = directives_of(repository, *argv, **command)
    return answer.scripts if isinstance(answer, IgnoredDirectives) else answer


def test_the_scripts_of_both_commands_are_read_from_their_folder(repository: Repository) -> None:
    scripts = scripts_of(
        repository, "bash", "train.sh", "data.bin", "long.txt", resume_argv=["sh", "./resume.sh"]
    )
    assert scripts.keys() == {"train.sh", "long.txt", "./resume.sh"}
    assert (scripts["train.sh"], scripts["long.txt"]) == ((Directive(1, "#one"),), ())
    (secret,) = scripts["./resume.sh"]
    assert secret.line == 2
    assert TOKEN not in secret.text


def test_a_script_is_named_by_its_absolute_path_or_in_the_words_of_a_shell(
    repository: Repository,
) -> None:
    absolute = str(repository.top / "train.sh")
    assert scripts_of(repository, absolute) == {absolute: (Directive(1, "#another"),)}
    assert scripts_of(repository, "sh", "-c", "cd . && exec 'train.sh'; true") == {
        "train.sh": (Directive(1, "#one"),)
    }


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "--script=train.sh"],
        ["sh", "-c", "exec run --script=train.sh"],
        ["sh", "-c", "bash 'a b.sh'; bash train.sh"],
        ["sh", "-c", 'bash "a b.sh" "train.sh"'],
        ["sh", "-c", 'id="$(bash train.sh)"; bash a\\ b.sh'],
        ["bash", "-c", "test $# = 0 && bash train.sh"],
        ["bash", "-c", "n=${#a[@]}; bash train.sh"],
        ["bash", "-c", "echo 'a\nb'; bash train.sh"],
    ],
)
def test_a_script_is_found_behind_an_option_and_a_blank_in_its_name(
    repository: Repository, argv: list[str]
) -> None:
    (repository.top / "jobs" / "a b.sh").write_text("#four\n")
    scripts = scripts_of(repository, *argv)
    assert scripts.keys() == {"train.sh", *(["a b.sh"] if "b.sh" in argv[-1] else [])}


def test_a_command_without_a_script_has_none(repository: Repository) -> None:
    words = ("python", "-m", "train", "nothing.sh", ".", "train.sh/x", "x" * 5000, "/dev/null")
    assert isinstance(scripts_of(repository, *words), Nothing)


@pytest.mark.parametrize("path", ["~/train.sh", "$PWD/train.sh", "${JOBS}/train.sh"])
def test_a_path_that_a_shell_expands_is_named_as_not_read(
    repository: Repository, path: str
) -> None:
    for argv in (("bash", path), ("sh", "-c", f'exec "{path}" --lr=$LR')):
        answer = directives_of(repository, *argv)
        assert answer.scripts == {} and answer.unread_paths.keys() == {path}
    answer = directives_of(repository, "bash", path, "train.sh", "$DATA/text/", "~/lr.json")
    assert answer.scripts.keys() == {"train.sh"} and answer.unread_paths.keys() == {path}


def test_a_script_of_both_commands_keeps_the_answers_for_both(repository: Repository) -> None:
    lines = (Directive(1, "#one"),)
    for argv, other in (["sh", "submit"], ["submit", "sh"], ["sh", "sh"], ["quiet", "sh"]):
        resume_argv = [other, "train.sh"]
        scripts = scripts_of(repository, argv, "train.sh", resume_argv=resume_argv)
        assert scripts == {"train.sh": lines}
    assert scripts_of(repository, "sh", "train.sh", resume_argv=["quiet", "train.sh"]) == {
        "train.sh": lines
    }


def test_a_script_that_the_command_submits_is_not_judged(repository: Repository) -> None:
    answer = scripts_of(repository, "submit", "train.sh")
    assert isinstance(answer, Nothing) and "train.sh" in answer.why
    scripts = scripts_of(repository, "submit", "train.sh", resume_argv=["sh", "./resume.sh"])
    assert scripts.keys() == {"./resume.sh"}


@pytest.mark.parametrize("error", [PermissionError, OSError])
def test_a_script_that_cannot_be_read_is_raised(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def refuse(path: Path) -> None:  # root may read every file, so no mode would do
        raise error(5, "refused", str(path))

    monkeypatch.setattr("herorun.sources.request_review.open_regular", refuse)
    with pytest.raises(error, match="train"):
        scripts_of(repository, "bash", "train.sh")
