"""The contract of each run of a week."""

CONTRACT = """\
slug = "{slug}"
goal = "outlive a week of faults"
dri = "@dri"
stop_when = "never"
final_step = "steps"
command = {{ argv = ["{python}", "train.py", "--config", "config-{slug}.toml"] }}
config = {{ files = ["config-{slug}.toml"] }}
output = {{ root = "{root}", temporary_root = "{root}-temporary" }}
checkpoints = {{ layout = "levanter", permanent_every = {every}, temporary_every = "1h", keep = 5 }}
tracker = {{ kind = "jsonl", path = "{home}/out/{slug}/metrics.jsonl", id = "{slug}" }}
scheduler = {{ kind = "local", settle = "500ms", grace = "1s" }}
issue = {issue}

[babysit]
cadence = "1s"
recovery = "relaunch"
budgets = {{ relaunches = 1000, unknown = 1000, infra = 1000, window = "1h" }}

[babysit.thresholds]  # of disks that are small from the first day
full-disk = {{ bytes = 4_000_000, inodes = 10, days = 0.00001 }}
filling-disk = {{ bytes = 4_000_000, inodes = 10, days = 0.00001 }}
"""
IMPATIENT = """\
stalled-steps = { idle = "10s", max_idle = "12s", startup = "60s" }
silent-tracker = { idle = "10s", max_idle = "12s", startup = "60s" }
"""
