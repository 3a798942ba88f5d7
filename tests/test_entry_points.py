"""Checks that an installed package brings: asked like our own, and unknown where they cannot be
imported.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from herorun.core.check import Gate
from herorun.core.evidence import TrackerTraits
from screens.notices import Notice
from wording import mentions

TOP = Path(__file__).parents[1]
CHECK = '''"""The moon is full.

Why: it is a test.
Fix: wait.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Now
from herorun.core.finding import Verdict, passed


@check(Gate.LAUNCH, Response.WARN)
def full_moon(now: Now) -> Verdict:
    return passed("it is not")
'''
ASK = """
from herorun import adapters, discover
from herorun.core.check import Gate, evaluate
for check in discover.checks(Gate.LAUNCH):
    if "moon" in check.name or "broken" in check.name:
        (finding,) = evaluate([check], {need: None for need in check.needs})
        print(check.name, check.response, finding.verdict.outcome)
"""


CONNECT = """
from herorun import adapters, discover
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, missing_members, tracker_traits
from ports.abilities import misshapen_members
place = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
for port in ("schedulers", "trackers", "notifiers", "schedulers.external"):
    for kind in ("theirs", "older"):
        try:
            adapter = adapters.connect(port, kind, {}, place)
            lacking = missing_members(adapters.PORTS[port], adapter)
            print(port, lacking, misshapen_members(port, adapter))
            if port == "trackers":
                print(tracker_traits(adapter), adapter.client_problem("RUN", "a", None, False))
        except WrongUse as error:
            print(error)
"""


def run_script(folder: Path, entry_points: str, script: str) -> str:
    """What a script prints next to an installed package whose modules lie in the folder; it can
    import what the tests share.
    """
    facts = folder / "moon-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: moon\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(entry_points)
    path = os.pathsep.join([str(folder), str(TOP / "src"), str(TOP / "tests")])
    env = {**os.environ, "PYTHONPATH": path}
    process = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    return process.stdout


BY_ID = """
import re
from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.ports import Absent
from pydantic import BaseModel

class Options(BaseModel):
    pass

class Queue:
    def find_job(self, job):
        return Absent()
    def tail(self, job, lines):
        return ""
    def stop(self, job):
        pass

def connect(options, place):
    return Queue()
"""
JOBS = 'JOBS = JobKind(id_pattern=re.compile(r"q-[0-9]+"), id_form="a ticket, such as q-7")\n'


FOREIGN = {  # port -> a member of it that an older package has not
    "schedulers": r"^    cluster_wide = .*$",
    "trackers": r"^    def read\b",
    "notifiers": r"^    def find\b",
    "schedulers.external": r"^    def tail\b",
}


THEIRS = """class CsvRows:
    progress_lines = "theirs"
    resumes_by_id = True
    drops_past_steps = True
    name_rules = {"id": "[a-z]+"}
    id_variable = "RUN"
    label = "Theirs"
    client_variables = ("RUN",)

    def client_problem(self, name, value, run, forks):
        return f"unset {name}"

"""
DECLARED_TRAITS = TrackerTraits("theirs", True, True, {"id": "[a-z]+"}, "RUN", "Theirs")


def test_foreign_adapters_are_used_and_those_that_lack_a_member_are_refused(tmp_path: Path) -> None:
    entry_points, texts = "", {"schedulers.external": BY_ID + JOBS}
    for port in ("schedulers", "trackers", "notifiers"):
        template = (TOP / "templates" / f"{port[:-1]}.py").read_text()
        texts[port] = template.replace("class CsvRows:\n", THEIRS)
    for port, member in FOREIGN.items():
        module = port.replace(".", "_")
        (tmp_path / f"their_{module}.py").write_text(texts[port])
        lacking = re.sub(member, "    def renamed", texts[port], flags=re.MULTILINE)
        lacking = lacking.replace("    def renamed\n", "")  # an attribute's whole line
        (tmp_path / f"older_{module}.py").write_text(lacking)
        entry_points += f"[herorun.{port}]\ntheirs = their_{module}\nolder = older_{module}\n"
    answer = run_script(tmp_path, entry_points, CONNECT)
    refusal = "The adapter 'older' of {} lacks {}, which core.ports.{} asks for."
    assert answer.splitlines() == [
        "schedulers () []",
        refusal.format("[scheduler] kind", "cluster_wide", "Scheduler"),
        "trackers () []",
        f"{DECLARED_TRAITS} unset RUN",
        refusal.format("[tracker] kind", "read", "Tracker"),
        "notifiers () []",
        refusal.format("notifier kind", "find", "Notifier"),
        "schedulers.external () []",
        refusal.format("--scheduler", "tail", "ById"),
    ]


def test_a_foreign_adapter_with_members_by_older_names_is_told_the_new_ones(
    tmp_path: Path, notice: Notice
) -> None:
    """`other_jobs` is optional: by its older name it would be ignored in silence."""
    template = (TOP / "templates" / "scheduler.py").read_text()
    before = "    cluster_wide = True"
    assert before in template
    (tmp_path / "older.py").write_text(
        template.replace(before, f"    everywhere = True\n    beside = ()\n{before}")
    )
    script = """
from herorun import adapters
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
try:
    adapters.connect("schedulers", "older", {}, Place("tiny", "/nowhere", "/nowhere", "/nowhere"))
except WrongUse as error:
    print(error)
"""
    message = run_script(tmp_path, "[herorun.schedulers]\nolder = older\n", script)
    assert message.strip() == notice


SHELF = """
from pydantic import BaseModel
from herorun.core.ports import FileEntry

class Options(BaseModel):
    pass

class Shelf:
    def __init__(self):
        self.files = {}

    def entries(self, path):
        below = [name[len(path) + 1:] for name in self.files if name.startswith(f"{path}/")]
        if not below:
            raise FileNotFoundError(2, "nothing is there", path)
        names = {name.partition("/")[0] + ("/" if "/" in name else "") for name in below}
        return tuple(FileEntry(name) for name in sorted(names))

    def names(self, path):
        return tuple(entry.name for entry in self.entries(path))

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(2, "nothing is there", path)
        return self.files[path]

    def end(self, path, count):
        return self.read(path)[-count:]

    def modified(self, path):
        return None

    def generation(self, path):
        return f"content:{self.read(path)!r}"

    def digests(self, folder, names, previous):
        yield from ()

    def region(self, root):
        return "their cellar"

    def rules(self, root):
        return ()

    def create(self, path, data):
        if path in self.files:
            raise FileExistsError(17, "it exists", path)
        self.files[path] = data

    def swap(self, path, before, after):
        is_same = self.read(path) == before
        self.files[path] = after if is_same else self.read(path)
        return is_same

    def delete(self, path):
        del self.files[path]

    def delete_folder(self, path):
        pass

    def probe(self, root):
        pass

def connect(options, place):
    return Shelf()
"""
STORE = """
from herorun import adapters
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.store_router import RoutedStore
from ports.abilities import misshapen_members
place = Place("tiny", "theirs://runs/tiny", "/nowhere", "theirs://runs/tiny")
store = RoutedStore(place)
for name in ("ckpt_5/shard", "ckpt_5/DONE", "ckpt_9/shard", "ckpt_5.bak/DONE"):
    store.create(f"theirs://runs/tiny/{name}", b"x")
print(store.region("theirs://runs/tiny"), *store.names("theirs://runs/tiny"))
print(store.swap("theirs://runs/tiny/ckpt_9/shard", b"x", b"y"))
try:
    store.read("older://runs/tiny/shard")
except WrongUse as error:
    print(error)
layout = adapters.connect("stores.layouts", "theirs", {}, place)
shelf = adapters.connect("stores", "theirs", {}, place)
print(misshapen_members("stores", shelf) + misshapen_members("stores.layouts", layout))
for each in layout.candidates(store, "theirs://runs/tiny", False):
    print(each.step, each.complete, each.alike)
try:
    adapters.connect("stores.layouts", "older", {}, place)
except WrongUse as error:
    print(error)
"""


def test_a_foreign_store_and_layout_are_used_and_those_that_lack_a_member_are_refused(
    tmp_path: Path,
) -> None:
    layout = (TOP / "templates" / "layout.py").read_text()
    (tmp_path / "their_store.py").write_text(SHELF)
    (tmp_path / "older_store.py").write_text(SHELF.replace("def swap", "def exchange"))
    (tmp_path / "their_layout.py").write_text(layout)
    without_base = layout.replace("(NamedLayout)", "").replace("def final", "def last")
    (tmp_path / "older_layout.py").write_text(without_base)
    entry_points = (
        "[herorun.stores]\ntheirs = their_store\nolder = older_store\n"
        "[herorun.stores.layouts]\ntheirs = their_layout\nolder = older_layout\n"
    )
    facts, is_swapped, store, misshapen, *checkpoints, older = run_script(
        tmp_path, entry_points, STORE
    ).splitlines()
    assert facts == "their cellar ckpt_5.bak/ ckpt_5/ ckpt_9/"
    assert is_swapped == "True"
    assert mentions(store, "'older'", "[output] root", "swap", "core.ports.Store")
    assert misshapen == "[]"
    assert checkpoints == ["5 True False", "5 False True", "9 False False"]
    assert mentions(older, "'older'", "[checkpoints] layout", "final", "core.ports.Layout")


USE = """
from pathlib import Path
from herorun import job_kinds
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import WrongUse
from herorun.operations.jobs.scheduler import adapter_for
print(job_kinds.kinds())
for kind, job in (("theirs", "q-7"), ("theirs", "7"), ("older", "q-7"), ("nobodys", "q-7")):
    try:
        print(adapter_for(JobSpec(job=job, kind=kind), Path("/nowhere")).find_job(job))
    except WrongUse as error:
        print(error)
"""


def test_jobs_of_a_foreign_scheduler_are_watched_by_id_as_our_own(tmp_path: Path) -> None:
    (tmp_path / "their_jobs.py").write_text(BY_ID + JOBS)
    (tmp_path / "older_jobs.py").write_text(BY_ID)
    entry_points = "[herorun.schedulers.external]\ntheirs = their_jobs\nolder = older_jobs\n"
    kinds, *answers = run_script(tmp_path, entry_points, USE).splitlines()
    assert "'older'" in kinds and "'theirs'" in kinds and "'slurm'" in kinds
    absent, malformed_answer, lacking, unsupported_answer = answers[:4]
    assert absent == "Absent()"
    assert mentions(malformed_answer, "'7'", "theirs", "ticket", "q-7")
    assert mentions(lacking, "'older'", "JOBS", "JobKind")
    assert mentions(unsupported_answer, "'nobodys'", "theirs")


def test_a_foreign_check_is_asked_and_a_broken_one_is_unknown_and_blocks(tmp_path: Path) -> None:
    (tmp_path / "moon.py").write_text(CHECK)
    (tmp_path / "eclipse.py").write_text("import a_module_that_is_not_there\n")
    output = run_script(tmp_path, "[herorun.checks]\nmoon = moon\neclipse = eclipse\n", ASK)
    assert output.splitlines() == [
        f"broken-check-eclipse-{Gate.LAUNCH} block unknown",
        "full-moon warn pass",
    ]
