"""Text of a schedule: a systemd timer, a crontab line, or a workflow of GitHub Actions. Pure.

Nothing is installed: what outlives a session is for a person to put in place.
"""

import shlex
from datetime import timedelta
from hashlib import sha256

from herorun.core.durations import format_duration
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass

HOUR, DAY = 3600, 86400
MIN_INTERVAL = 60  # seconds: neither cron nor systemd is meant for less
_SERVICE = """\
[Unit]
Description=herorun {command} {slug}

[Service]
Type=oneshot
WorkingDirectory={top}
ExecStart={argv}
TimeoutStartSec={limit}
# Exit code 1: something to do, 3: no answer, or a message was not sent. Neither is a failure of this service; read the output with `journalctl --user -u herorun-{command}-{slug}`.
SuccessExitStatus=1 3
"""  # noqa: E501  # a text that is read as it stands
_TIMER = """\
[Unit]
Description=herorun {command} {slug} every {every}

[Timer]
OnBootSec=2min
OnUnitInactiveSec={seconds}s
AccuracySec=5s

[Install]
WantedBy=timers.target
"""
_WHAT_THEN = """\
# Split it at the two lines that name a file, then:
#   systemctl --user daemon-reload && systemctl --user enable --now herorun-{command}-{slug}.timer
#   loginctl enable-linger       # so that it runs while nobody is logged in
# To remove it: {removal}
"""
_HOME = "~/.config/systemd/user"


@dataclass(frozen=True, kw_only=True)
class TimerRequest:
    slug: str
    top: str  # of the work tree
    program: str  # herorun's own path
    command: str  # patrol or babysit
    every: timedelta
    limit: float = 300.0  # seconds that one tick may take
    notifies: bool = False  # the contract names a channel


def removal(slug: str, command: str = "patrol") -> str:
    """However it was put in place: the systemd timer, or cron's line. A table that could not be
    read is not written back.
    """
    unit = f"herorun-{command}-{slug}.timer"
    without = f"grep -v '# herorun {command} {slug}$'"  # to the end: `tiny` is not `tiny-b`
    return (
        f'systemctl --user disable --now {unit}; table=$(crontab -l) && echo "$table" | {without} '
        "| crontab -"
    )


def argv_of(request: TimerRequest) -> list[str]:
    return [
        request.program,
        "-C",
        request.top,
        *(["box"] if request.command == "patrol" else []),
        request.command,
        request.slug,
        *(["--once"] if request.command == "babysit" else []),
        *(["--notify"] if request.command == "patrol" and request.notifies else []),
    ]


def systemd(request: TimerRequest) -> str:
    """A service and its timer, for the user's own systemd. A tick that takes long delays the next
    one and meets none.
    """
    then = _WHAT_THEN.format(
        command=request.command, slug=request.slug, removal=removal(request.slug, request.command)
    )
    return "\n".join([*(f"# {path}\n{text}" for path, text in units(request).items()), then])


def units(request: TimerRequest) -> dict[str, str]:
    """The two files by where they belong."""
    values = {
        "command": request.command,
        "slug": request.slug,
        "top": _of_systemd(request.top),
        "argv": " ".join(f'"{_of_systemd(word)}"' for word in argv_of(request)),
        "limit": round(request.limit),
        "every": format_duration(request.every),
        "seconds": _cadence_seconds(request.every),
    }
    name = f"{_HOME}/herorun-{request.command}-{request.slug}"
    return {f"{name}.service": _SERVICE.format(**values), f"{name}.timer": _TIMER.format(**values)}


def _of_systemd(word: str) -> str:
    """systemd.unit(5): per cent signs are specifiers, dollar signs variables, backslashes and
    quotes its own.
    """
    if "\n" in word:
        raise WrongUse(f"{word!r} has a line break, which a systemd unit cannot hold: remove it.")
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")


def cron(request: TimerRequest) -> str:
    """One line; a tick that has not ended keeps the next one away."""
    line = shlex.join(argv_of(request)).replace("%", "\\%")
    lock = f'"${{TMPDIR:-/tmp}}/herorun-{request.command}-{request.slug}.lock"'
    log = shlex.quote(f"{request.top}/.herorun/{request.slug}/{request.command}.log").replace(
        "%", "\\%"
    )
    return (
        f"{when(request)} flock -n {lock} timeout {round(request.limit)} {line} >> {log} 2>&1 "
        f"# herorun {request.command} {request.slug}\n"
    )


def when(request: TimerRequest) -> str:
    """cron's five fields: off the full hour, where everybody else's jobs begin."""
    seconds = _cadence_seconds(request.every)
    offset = int(sha256(request.slug.encode()).hexdigest(), 16)
    if seconds < HOUR and seconds % 60 == 0 and HOUR % seconds == 0:
        minutes = seconds // 60
        if minutes == 1:
            return "* * * * *"
        first = offset % minutes
        return f"{','.join(str(minute) for minute in range(first, 60, minutes))} * * * *"
    if seconds % HOUR == 0 and DAY % seconds == 0:
        hours, minute = seconds // HOUR, offset % 60
        return (
            f"{minute} {'*' if hours == 1 else f'*/{hours}' if hours < 24 else offset % 24} * * *"
        )
    raise WrongUse(
        f"--every {format_duration(request.every)} does not fit cron: take a divisor of "
        "an hour or a day, or use systemd."
    )


def actions(request: TimerRequest, template: str) -> str:
    """The watchdog's schedule for one run: a cloud runner reads the published record, and reaches
    no box.
    """
    return (
        template.replace(
            "herorun box watchdog --all --comment", f"herorun box watchdog {request.slug} --comment"
        )
        .replace("herorun-watchdog", f"herorun-watchdog-{request.slug}")
        .replace("for hero runs", f"for {request.slug}")
        .replace(
            '"*/15 * * * *" # at least as often as the shortest cadence;', f'"{when(request)}" #'
        )
        .replace("name: herorun watchdog", f"name: herorun watchdog {request.slug}", 1)
    )


def _cadence_seconds(every: timedelta) -> int:
    seconds = every.total_seconds()
    if seconds < MIN_INTERVAL or seconds != int(seconds):
        raise WrongUse(f"--every {format_duration(every)} must be whole seconds, at least 60.")
    return int(seconds)
