import pytest

from herorun.core.shell_words import shell_commands, shell_lines


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("", []),
        ("# python old.py", []),
        ("python 'my train.py' --x=1", [["python", "my train.py", "--x=1"]]),
        ("a;b&&c|d", [["a"], ["b"], ["c"], ["d"]]),
        ("echo 'a; sbatch b'", [["echo", "a; sbatch b"]]),
        ("cmd <in >out", [["cmd", "in", "out"]]),
        ("a \\\n  b\nc", [["a", "b"], ["c"]]),
        ("id=`sbatch t.sh`", [["id=`sbatch", "t.sh`"], ["id="], ["sbatch"], ["t.sh"]]),
        ('x="$(sbatch t.sh)"', [["x=$(sbatch t.sh)"], ["x="], ["sbatch", "t.sh"]]),
        ("(exec sbatch t.sh)", [["exec", "sbatch", "t.sh"]]),
        ("echo 'open train.sh; b", [["echo", "open", "train.sh", "b"]]),
    ],
)
def test_each_command_has_its_words(text: str, commands: list[list[str]]) -> None:
    assert list(shell_commands(text)) == commands


def test_a_line_has_the_words_of_all_its_commands() -> None:
    assert list(shell_lines("a; b 'c d'\n\ne")) == [["a", "b", "c d"], ["e"]]
