"""Whose list of jobs it is: the agent's that its variable names, else this terminal's."""

from pathlib import Path

import pytest

from herorun.operations.record.session import OWN, current_session

CLAUDE, CODEX = "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"


@pytest.mark.parametrize(
    ("env", "session_id", "source"),
    [
        ({CLAUDE: "a", CODEX: "b", OWN: "c"}, "", ("a", "claude-code")),
        ({CODEX: "b", OWN: "c"}, "", ("b", "codex")),
        ({CLAUDE: "", OWN: "c"}, "", ("c", "manual")),
        ({CLAUDE: "a", CODEX: "b"}, "b", ("b", "codex")),
        ({CLAUDE: "a"}, "another", ("another", "manual")),
    ],
)
def test_the_first_variable_that_is_set_names_the_session(
    tmp_path: Path, env: dict[str, str], session_id: str, source: tuple[str, str]
) -> None:
    session = current_session(tmp_path, session_id, env)
    assert (session.id, session.agent) == source
    assert session.folder == tmp_path.resolve() / ".claude" / "agents" / source[0]


@pytest.mark.parametrize("name", ["../outside", "a/b", ".hidden", "x" * 129])
def test_a_name_that_is_no_folders_name_is_replaced_by_its_digest(
    tmp_path: Path, name: str
) -> None:
    session = current_session(tmp_path, name, {})
    assert session.id.startswith("session-") and len(session.id) == 24
    assert session.folder.parent == tmp_path.resolve() / ".claude" / "agents"
    assert session.id != current_session(tmp_path, f"{name}/", {}).id


def test_without_a_variable_it_is_the_same_terminal_each_time(tmp_path: Path) -> None:
    one, two = (current_session(tmp_path, "", {}) for _ in range(2))
    assert one == two and one.agent == "manual" and one.id.startswith("terminal-")
