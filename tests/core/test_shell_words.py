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
        ("echo 'open train.sh; b", [["echo", "open", "train.sh"], ["b"]]),
        ('"a', [["a"]]),
        ("test $# = 0 && b", [["test", "$#", "=", "0"], ["b"]]),
        ("n=${#a[@]};b#c # d; e", [["n=${#a[@]}"], ["b#c"]]),
        ("a '#b' \\#c;# don't\nd", [["a", "#b", "#c"], ["d"]]),
        ("# a \\\nb", [["b"]]),
        ("echo 'a\nb'; c", [["echo", "a\nb"], ["c"]]),
        ('echo "a\\\nb \\"c\\""; d', [["echo", 'ab "c"'], ["d"]]),
        ("echo ';' sbatch", [["echo", ";", "sbatch"]]),
        ("a 2>&1 &>out; b", [["a", "2", "1", "out"], ["b"]]),
        ("a\r\nb\\", [["a"], ["b"]]),
    ],
)
def test_each_command_has_its_words(text: str, commands: list[list[str]]) -> None:
    assert list(shell_commands(text)) == commands


def test_a_line_has_the_words_of_all_its_commands() -> None:
    assert list(shell_lines("a; b 'c d'\n\ne")) == [["a", "b", "c d"], ["e"]]


def test_the_lines_of_a_quotation_follow_the_line_that_it_begins_in() -> None:
    assert list(shell_lines("ssh host 'cd x\npython a.py' -v; b\ndon't\npython b.py")) == [
        ["ssh", "host", "cd x\npython a.py", "-v", "b"],
        ["cd", "x"],
        ["python", "a.py"],
        ["don", "t"],
        ["python", "b.py"],
    ]


def test_an_apostrophe_that_quotes_nothing_hides_no_line() -> None:
    lines = list(shell_lines("cat <<E\ndon't\nE\npython a.py\necho 'a b'\npython b.py\n"))
    assert ["python", "a.py"] in lines and ["python", "b.py"] in lines
