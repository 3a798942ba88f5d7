"""A stand-in for Iris' command line, of three generations:
`iris_stand_in.py GENERATION FOLDER WORDS...`.

It runs the submitted commands for real, keeps its jobs in FOLDER, and prints what each generation
prints. What a real cluster would do by itself, a test writes down: `others.json` holds further jobs
as generation A lists them, `fails.json` what fails and how, `environment.json` the variables that
the cluster gives to every job.
"""

import os
import sys

# A test asks some ten times, each time a process: what takes long to import is imported where it is
# used.

GENERATION, FOLDER, *WORDS = sys.argv[1:]
OPTIONS = (
    "--no-wait --no-terminate-on-exit --terminate-on-exit --job-name --user --max-retries --tpu "
    "--gpu --cpu --memory "
    "--disk --replicas --region --zone --extra --reserve --timeout --enable-extra-resources "
    "--env-vars"
)
LISTS = {
    "A": "--state --prefix --json",
    "B": "--state --prefix",
    "C": "--state --prefix --limit INTEGER",
}
LOGS = {
    "A": "--since-seconds --max-lines --tail --include-children",
    "B": "--max-lines --tail",
    "C": "--max-lines --tail",
}
DETAIL, STOP = {"A": ("summary", "stop"), "B": ("summary", "stop"), "C": ("describe", "cancel")}[
    GENERATION
]


def read(name, default):
    try:
        with open(os.path.join(FOLDER, name)) as file:
            import json

            return json.load(file)
    except FileNotFoundError:
        return default


def fail(message, code=1):
    print(message, file=sys.stderr)
    sys.exit(code)


def usage(message):
    fail(f"Usage: iris job [OPTIONS]\nTry 'iris job --help' for help.\n\nError: {message}", 2)


def place(job):
    return os.path.join(FOLDER, "jobs", job.strip("/").replace("/", "%"))


def moment(path):
    try:
        return {"epoch_ms": str(int(os.stat(path).st_mtime * 1000))}
    except FileNotFoundError:
        return None


def status(folder):
    """As `list --json` of generation A tells it: what is zero is left out."""
    row = {"job_id": "/" + os.path.basename(folder).replace("%", "/"), "task_count": 1}
    row["submitted_at"], row["started_at"] = (
        moment(f"{folder}/spec.json"),
        moment(f"{folder}/log"),
    )
    end_time = moment(f"{folder}/exit")
    if not end_time:
        return {**row, "state": "JOB_STATE_RUNNING", "task_state_counts": {"running": 1}}
    with open(f"{folder}/exit") as file:
        code = int(file.read() or 1)
    word = "killed" if os.path.exists(f"{folder}/killed") else "failed" if code else "succeeded"
    row.update(state=f"JOB_STATE_{word.upper()}", finished_at=end_time, task_state_counts={word: 1})
    return {**row, "exit_code": code, "error": f"Exit code {code}"} if code else row


def everything():
    jobs = os.path.join(FOLDER, "jobs")
    names = sorted(os.listdir(jobs)) if os.path.isdir(jobs) else []
    rows = [status(f"{jobs}/{name}") for name in names if os.path.exists(f"{jobs}/{name}/log")]
    return rows + read("others.json", [])


def friendly(row):
    return row.get("state", "JOB_STATE_UNSPECIFIED").replace("JOB_STATE_", "").lower()


def table(rows):
    from datetime import UTC, datetime

    heads = ["JOB ID", "STATE", "SUBMITTED", "REASON"]
    cells = []
    for row in rows:
        when = row.get("submitted_at")
        when = (
            datetime.fromtimestamp(int(when["epoch_ms"]) / 1000, UTC).isoformat() if when else "-"
        )
        reason = row.get("error") or row.get("pending_reason") or ""
        cells.append(
            [
                row["job_id"],
                friendly(row),
                when,
                reason[:60] + "..." if len(reason) > 63 else reason,
            ]
        )
    if not any(cell[3] for cell in cells):
        heads, cells = heads[:3], [cell[:3] for cell in cells]
    widths = [max(len(line[at]) for line in [heads, *cells]) for at in range(len(heads))]
    return "\n".join(
        "  ".join(word.ljust(n) for word, n in zip(line, widths, strict=True)).rstrip()
        for line in [heads, *cells]
    )


def do_list(argv):
    prefix = argv[argv.index("--prefix") + 1] if "--prefix" in argv else "/"
    if GENERATION == "A":  # a job's name, and what lies below it
        full_name = prefix.rstrip("/")
        rows = [
            r
            for r in everything()
            if r["job_id"] == full_name or r["job_id"].startswith(full_name + "/")
        ]
    else:
        rows = [r for r in everything() if r["job_id"].startswith(prefix)]
    if "--json" in argv and GENERATION == "A":
        import json

        print(json.dumps(rows, indent=2))
    else:
        print(table(rows) if rows else "No jobs found.")


def do_detail(argv):
    (row,) = [r for r in everything() if r["job_id"] == argv[-1]] or [None]
    if row is None:
        fail(f"Error: Job {argv[-1]} not found")
    word, counts, code = friendly(row), row.get("task_state_counts", {}), row.get("exit_code", 0)
    total, has_ended = row.get("task_count", 0), word not in ("running", "pending", "building")
    if "--json" in argv:
        import json

        tasks = [
            {"task_id": argv[-1] + "/0", "state": word, "exit_code": code if has_ended else None}
        ]
        detail = {
            "job_id": argv[-1],
            "state": word,
            "exit_code": code,
            "error": row.get("error", ""),
        }
        print(
            json.dumps({**detail, "task_count": total, "task_state_counts": counts, "tasks": tasks})
        )
        return
    print(
        f"Job: {argv[-1]} ({argv[-1].split('/')[-1]})\nState: {word}  exit={code}  failures=0  "
        "preemptions=0"
    )
    print(
        f"Tasks: {total if has_ended else 0}/{total} completed  "
        + "  ".join(f"{k}={v}" for k, v in counts.items())
    )
    if row.get("error"):
        print(f"Error: {row['error']}")
    print(
        f"\nTASK  STATE  EXIT  DURATION  PEAK MEM  CUR MEM  ERROR\n   0  {word}  "
        f"{code if has_ended else '-'}  1 second  -  -"
    )


def do_run(argv):
    import json
    import subprocess

    cut = argv.index("--")
    options, command, env = {}, argv[cut + 1 :], dict(read("environment.json", {}))
    flags = iter(argv[:cut])
    for word in flags:
        if word == "-e":
            name = next(flags)
            env[name] = next(flags)
        elif word.partition("=")[0] not in OPTIONS.split():
            usage(f"Unknown option {word!r}.")
        else:
            options[word.partition("=")[0]] = word.partition("=")[2]
    job = f"/{options['--user']}/{options['--job-name']}"
    folder = place(job)
    if os.path.exists(f"{folder}/spec.json") and not os.path.exists(f"{folder}/exit"):
        fail(f"connectrpc.errors.ConnectError: Job {job} already exists (state=JOB_STATE_RUNNING)")
    os.makedirs(folder)
    with open(f"{folder}/spec.json", "w") as file:
        json.dump({"words": argv, "env": env, "folder": os.getcwd()}, file)
    where = os.getcwd()
    if os.path.exists("herorun-admission.json"):  # a bundle, which is unpacked elsewhere
        where = f"{folder}/bundle"
        subprocess.run(["cp", "-r", ".", where], check=True)
    env = {"PATH": os.environ["PATH"], "IRIS_JOB_ID": job, "IRIS_ATTEMPT_ID": "0", **env}
    watch = (
        '"$@" & echo $! > "$0/pid"; wait $!; echo $? > "$0/exit.new"; mv "$0/exit.new" "$0/exit"'
    )
    with open(f"{folder}/log", "wb") as log:
        job_argv = ["setsid", "sh", "-c", watch, folder, *command]
        subprocess.Popen(
            job_argv, cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    print(f"I20260901 00:00:00 iris.cli.job Job submitted: {job}", file=sys.stderr)
    if read("lost.json", None):
        fail("connectrpc.errors.ConnectError: deadline exceeded")
    print(job)


def do_stop(argv):
    folder = place(argv[-1])
    if not os.path.exists(f"{folder}/pid") or os.path.exists(f"{folder}/exit"):
        print("No running jobs matched.")
        return
    open(f"{folder}/killed", "w").close()
    with open(f"{folder}/pid") as file:
        pid = int(file.read())
    os.kill(pid, 15)  # SIGTERM
    print(f"Terminated jobs:\n  {argv[-1]}")


def do_logs(argv):
    """Of the children too: in generation A only where that is asked for."""
    job, count = argv[-1], int(argv[argv.index("--max-lines") + 1])
    jobs = os.path.join(FOLDER, "jobs")
    names = (
        ["/" + name.replace("%", "/") for name in sorted(os.listdir(jobs))]
        if os.path.isdir(jobs)
        else []
    )
    with_children = GENERATION != "A" or "--include-children" in argv
    lines = []
    for name in names:
        if name == job or (with_children and name.startswith(f"{job}/")):
            lines += [(name, line) for line in lines_of(f"{place(name)}/log")]
    for name, line in lines[-count:]:
        sys.stdout.buffer.write(b"[12:00:00] task=%s/0 | %s\n" % (name.encode(), line))


def lines_of(path):
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    return lines[:-1] if lines[-1] == b"" else lines


def main():
    trouble = read("fails.json", {})
    argv = [
        word
        for word in WORDS
        if not word.startswith(("--cluster=", "--config=", "--controller-url="))
    ]
    command = " ".join(argv[:2])
    with open(os.path.join(FOLDER, "asked"), "a") as file:
        file.write(" ".join(word for word in argv if "\n" not in word)[:400] + "\n")
    if "--help" in argv:
        helps = {"job run": OPTIONS, "job logs": LOGS[GENERATION]}
        print(f"Usage: iris {command} [OPTIONS]\n  {helps.get(command, LISTS[GENERATION])}")
        return
    if command in trouble or "all" in trouble:
        fault = trouble.get(command) or trouble["all"]
        if "sleep" in fault:
            import time

            time.sleep(fault["sleep"])
        print(fault.get("out", ""), end="")
        if fault.get("err") or fault.get("code"):
            fail(fault.get("err", ""), fault.get("code", 0))
        return
    verbs = {"list": do_list, "run": do_run, "logs": do_logs, DETAIL: do_detail, STOP: do_stop}
    if len(argv) < 2 or argv[1] not in verbs:
        usage(f"No such command '{command}'.")
    verbs[argv[1]](argv[2:])


main()
