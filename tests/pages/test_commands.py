"""Every command that README and docs/ tell to type is typed here, and answers as the page says."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import tomli_w

from pages.blocks import Typed, commands, files, holds_answer
from pages.world import ENV, World
from stories import Story, contract_of, eventually

TOP = Path(__file__).parents[2]
PreviousTick = Mapping[str, Callable[[World], object]]

# Each with the reason why no test can type it; what stands in no list below fails.
NOT_RUN = {
    "export HERO_SLACK='https://hooks.slack.com/services/T.../B.../...'": "an address to fill in",
    (
        "export "
        "HERO_MAIL='mailtos://user:password@smtp.example.org:587/?from=run@example.org&to=dri@example.org&mode=starttls'"
    ): "an address to fill in: tests/operations/record/test_page.py sends to real servers",
    "make demo": ".ci/run runs the demo from the wheel, and tests/demo parts of it",
    "make test": "that is what runs this",
    "uv tool install git+ssh://HOST/OWNER/herorun": "an address to fill in",
    "uv tool install .": "tests/pages/test_install.py types it in a clone",
    "pip install ./checkin": "tests/pages/test_install.py types it in a clone",
    "herorun metrics --listen 127.0.0.1:9477": (
        "serves until Ctrl-C: tests/operations/report/test_exporter.py asks it"
    ),
    "herorun metrics --textfile /var/lib/node_exporter/herorun.prom": (
        "a folder of node_exporter: tests/operations/report/test_exporter.py writes another"
    ),
    "herorun serve": "serves until Ctrl-C: tests/operations/report/test_web.py asks it",
    "HERORUN_MCP_TOKEN=... herorun mcp --listen 127.0.0.1:9478": "a token to fill in",
    "herorun babysit --job 4711 --scheduler slurm --host login": (
        "needs a cluster: tests/operations/jobs/test_jobs_on_slurm.py has one"
    ),
    (
        "herorun babysit --job job.batch/tiny-1 --scheduler kubernetes "
        "--cluster train-cluster/heroes"
    ): "needs a cluster: tests/schedulers/external/test_kubernetes_by_id.py has one",
    "git add pod.yaml": (
        "part of the tutorial on a cluster: tests/pages/test_tutorial_on_kubernetes.py types it"
    ),
    (
        "kubectl --context train-cluster --namespace heroes get jobs,pods "
        "--selector herorun/run=my-run"
    ): "needs a cluster: tests/pages/test_tutorial_on_kubernetes.py has one",
    "herorun babysit --job 31337 --host box": (
        "needs a box: tests/operations/jobs/test_jobs_on_a_box.py has one"
    ),
    "herorun babysit --job /dlwh/train-tiny-20260302-185630 --scheduler iris --cluster marin "
    "--resubmit "
    '"uv run iris --config lib/iris/examples/marin.yaml job run --no-wait --extra marin:tpu --tpu '
    'v5litepod-16 -- python train.py"': (
        "needs a cluster: tests/schedulers/test_iris.py has stand-ins"
    ),
    "herorun babysit": (
        "goes on from what the lines above it began: tests/operations/jobs/test_run.py does"
    ),
    'herorun relaunch --job ID --reason "fixed the typo in train.py"': (
        "a person's word about those jobs: tests/operations/jobs/test_run.py gives it about others"
    ),
    'herorun relaunch --job ID --stop-first --reason "hangs since 41k"': (
        "a person's word about those jobs: tests/operations/jobs/test_run.py gives it about others"
    ),
    'herorun stop --job ID --reason "the data was wrong"': (
        "a person's word about those jobs: tests/operations/jobs/test_run.py gives it about others"
    ),
    (
        'herorun jobs add slurm 4711 --host login --description "calibration"'
    ): "needs a cluster: tests/operations/jobs/test_jobs_on_slurm.py",
    "herorun jobs watch": (
        "goes on until those jobs have ended: tests/operations/jobs/test_watch.py"
    ),
    "herorun jobs find --host login": "needs a login node: tests/operations/jobs/test_watch.py",
    "herorun launch grug --adopt 4711": (
        "needs a job that was started by hand: tests/operations/launch/test_adopt.py"
    ),
}


def text(page: str) -> str:
    return (TOP / page).read_text(encoding="utf-8")


PAGES = ["README.md", *sorted(str(path.relative_to(TOP)) for path in (TOP / "docs").rglob("*.md"))]
COMMANDS = {page: list(commands(page, text(page))) for page in PAGES}


# --- the worlds: what is there before a page begins, and what happens between its commands --------


def nothing(world: World) -> None:
    pass


def as_shown(world: World) -> None:
    """The files of the tutorial, the job a hundred times as fast."""
    page_files = files(text("docs/tutorial.md"))
    assert set(page_files) == {"train.py", "config.toml", "runs/my-run.toml"}
    page_files["config.toml"] = page_files["config.toml"].replace(
        "seconds_per_step = 0.1", "seconds_per_step = 0.001"
    )
    world.write(page_files)


JOB = """\
root=$1/${HERORUN_INSTANCE%-*}
step=${HERORUN_START##*-}
end=43001
if [ "$HERORUN_INSTANCE" = grug-1 ]; then end=41601; fi
save() {
  mkdir -p "$root/step-$1"
  echo weights > "$root/step-$1/weights"
  echo "{\\"step\\": $1, \\"timestamp\\": \\"2026-01-01T00:00:00\\", \\"is_temporary\\": false}" > "$root/step-$1/metadata.json"
}
mkdir -p "$root"
: "${step:=40990}"
while [ "$step" -lt "$end" ]; do
  echo "{\\"step\\": $step, \\"train/loss\\": 2.5, \\"tokens_per_s\\": ${#HERORUN_INSTANCE}00}"
  step=$((step + 1))
  if [ $((step % 500)) = 0 ]; then save $step; fi
done >> "$root/metrics.jsonl"
sleep 60
"""  # noqa: E501  # a text that is read as it stands


def grug(world: World) -> None:
    """A run that is long under way: its first instance is at step 41,600 and continues."""
    plan_run(world)
    assert world.type(Typed("", "herorun launch grug --no-babysit")).code == 0
    wait_for_step(world, "grug", 41_600)


def plan_run(world: World) -> None:
    """The same run before its launch, in a repository that is `~/project` too."""
    story = Story(world.home).begin()
    (story.work / "runs" / "tiny.toml").unlink()
    (story.work / "train.sh").write_text(JOB)
    fields = {**contract_of(story.data), "slug": "grug", "final_step": 50_000}
    fields["output"] = {
        "root": str(story.data / "grug"),
        "temporary_root": str(story.data / "grug-temporary"),
    }
    fields["tracker"] = {**fields["tracker"], "id": "grug"}
    (story.work / "runs" / "grug.toml").write_text(tomli_w.dumps(fields))
    story.publish()
    world.here = story.work
    (world.home / "project").symlink_to(story.work)
    (world.home / ".local/share/bash-completion/completions").mkdir(parents=True)
    assert world.type(Typed("", "herorun init grug")).code == 0


def wait_for_step(world: World, slug: str, step: int) -> None:
    rows = world.home / "data" / slug / "metrics.jsonl"
    eventually(lambda: rows.exists() and f'"step": {step},' in rows.read_text())


def both_logged(world: World) -> None:
    for slug in ("grug", "grug-fp8"):
        wait_for_step(world, slug, 43_000)


def two_curves(world: World) -> None:
    rows = "step,loss\n" + "".join(f"{step},2.5\n" for step in range(50))
    world.write({"before.csv": rows, "after.csv": rows})


WORLDS: Mapping[str, tuple[Callable[[World], object], PreviousTick]] = {
    "docs/tutorial.md": (
        nothing,
        {
            "git add train.py config.toml runs": as_shown,
            "herorun babysit my-run --once": lambda world: world.wait_for_end("my-run-1"),
        },
    ),
    "docs/rollback.md": (
        grug,
        {
            (
                "herorun compare grug grug-fp8 --window 41000:43000 --gate 'loss mean <= +0.5%' "
                "--gate 'tokens_per_s mean >= +5%'"
            ): both_logged,
            "herorun compare before.csv after.csv --repeat": two_curves,
        },
    ),
    "docs/integration.md": (plan_run, {}),
    "docs/metrics.md": (grug, {}),
}
CODES = {
    "herorun preflight my-run": {1},  # the edited script
    "herorun doctor": {0, 3},  # a machine may tell nothing of its clock
}


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    # where watchers write themselves down
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("HOME", str(home))
    new_world = World(home, home)
    yield new_world
    new_world.end()


@pytest.mark.thorough
@pytest.mark.parametrize("page", WORLDS)
def test_a_page_can_be_followed_word_for_word(page: str, world: World) -> None:
    begin, before = WORLDS[page]
    begin(world)
    for command in COMMANDS[page]:
        if command.line in NOT_RUN:
            continue
        before.get(command.line, nothing)(world)
        output = world.type(command)
        assert output.code in CODES.get(command.line, {0}), output
        assert holds_answer(command.answer_lines, output.out + output.err), output
    assert set(before) <= {command.line for command in COMMANDS[page]}


# --- that none is left out ------------------------------------------------------------------------


def run_somewhere() -> dict[str, list[Typed]]:
    fields: dict[str, list[Typed]] = {}
    for page in WORLDS:
        for command in COMMANDS[page]:
            fields.setdefault(command.line, []).append(command)
    return fields


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_is_typed_or_it_is_said_why_not(page: str) -> None:
    names = {*run_somewhere(), *NOT_RUN}
    assert [command.line for command in COMMANDS[page] if command.line not in names] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WORLDS])
def test_an_answer_that_is_shown_again_is_the_one_that_was_seen(page: str) -> None:
    observations = run_somewhere()
    for command in COMMANDS[page]:
        if command.answer_lines:
            assert any(
                set(command.answer_lines) <= set(other.answer_lines)
                for other in observations.get(command.line, [])
            ), command


def test_no_reason_outlives_its_command_or_the_test_that_it_names() -> None:
    assert set(NOT_RUN) <= {command.line for value in COMMANDS.values() for command in value}
    paths = {name for why in NOT_RUN.values() for name in re.findall(r"tests/[\w/]+\.py", why)}
    assert [name for name in paths if not (TOP / name).is_file()] == []


# --- how a page is read ---------------------------------------------------------------------------


def test_a_console_block_holds_commands_with_their_answers_and_a_shell_block_commands_alone() -> (
    None
):
    page = (
        "```console\n$ a b  # why\nsaid\n$ c\n```\n\n```sh\n# of these\nd --e 'f # g'\n```\n\n"
        "```text\n$ no\n```\n"
    )
    assert [(command.line, command.answer_lines) for command in commands("p", page)] == [
        ("a b", ("said",)),
        ("c", ()),
        ("d --e 'f # g'", ()),
    ]


@pytest.mark.parametrize(
    ("lines", "true"),
    [
        (("one", "two"), True),
        (("one", "three"), False),
        (("one", "...", "three"), True),
        (("t...o",), True),
        (("wo",), False),
    ],
)
def test_an_answer_is_the_shown_lines_in_their_order(lines: tuple[str, ...], true: bool) -> None:
    assert holds_answer(lines, "one\ntwo\nthree\n") is true
