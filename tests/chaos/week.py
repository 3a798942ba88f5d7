"""A week of faults in minutes: several runs, one order of faults for each seed, and what came of it
in figures.

`PYTHONPATH=tests python -m chaos.week --seed 1 2 --seconds 240 --runs 4 --github --bucket`, best as
root, who can fill disks and start another host. It ends with 1 where something is wrong.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from chaos.bucket import Bucket
from chaos.faults import Fault, happen, small_disk
from chaos.figures import figures
from chaos.judging import await_relaunches, journal, violations
from chaos.more_faults import of_a_run, of_the_machine
from chaos.world import World
from services import github, servers


def week(world: World, seed: int, seconds: float, kept_folder: Path | None = None) -> bool:
    """Every run has its own order of faults, and so has the machine. The journals are copied to the
    folder `kept_folder`.
    """
    faults: list[Fault] = []
    world.work.mkdir()
    world.state.mkdir()
    (world.home / "out").mkdir()
    with ExitStack() as stack:
        mounted_paths = [
            stack.enter_context(small_disk(path)) for path in (world.state, world.home / "out")
        ]
        stack.callback(world.close)
        world.begin()
        until = time.monotonic() + seconds
        lots = [(slug, of_a_run(world, slug)) for slug in world.slugs] + [
            ("", of_the_machine(world, all(mounted_paths)))
        ]
        threads = [
            threading.Thread(
                target=lambda s=slug, m=may: faults.extend(happen(world, seed, s, until, m))
            )
            for slug, may in lots
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        await_relaunches(world, faults)
        world.end_watch()
        wrong, totals = violations(world, faults), figures(world, faults)
        for slug in world.slugs if kept_folder else ():
            lines = [json.dumps(line) + "\n" for line in journal(world, slug)]
            (kept_folder / f"{seed}-{slug}.jsonl").write_text("".join(lines))
    print(f"seed {seed}: {len(faults)} faults, {len(wrong)} violations; {totals}", flush=True)
    print("".join(f"  violation: {each}\n" for each in wrong), end="", flush=True)
    good = totals.good and not wrong
    print(
        ""
        if good
        else "".join(f"  {each}\n" for each in sorted(faults, key=lambda each: each.began)),
        end="",
        flush=True,
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument(
        "--github", action="store_true", help="post to an emulator of GitHub, which fails at times"
    )
    parser.add_argument(
        "--bucket", action="store_true", help="one run's checkpoints lie in an emulator of a store"
    )
    parser.add_argument("--keep", type=Path, help="a folder for the journals")
    options = parser.parse_args()
    bad = 0
    for seed in options.seed:
        with ExitStack() as stack:
            server = stack.enter_context(github.running()) if options.github else None
            store = stack.enter_context(servers.running("gcs_server")) if options.bucket else None
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="herorun-week-", ignore_cleanup_errors=True)
            )
            slugs = tuple(f"r{number}" for number in range(options.runs))
            world = World(
                Path(folder),
                slugs,
                github=server,
                bucket=Bucket(store) if store else None,
                other_clock=True,
                impatient=True,
            )
            bad += not week(world, seed, options.seconds, options.keep)
    return int(bad > 0)


if __name__ == "__main__":
    os.environ.pop("GH_TOKEN", None)
    sys.exit(main())
