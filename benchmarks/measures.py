"""What a process takes besides time, as Linux tells it: memory and bytes read."""

import re
from pathlib import Path


def reset_peak() -> None:
    """So that VmHWM is the most since now; where the system has no such thing, the most ever."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def memory(name: str) -> int:
    """VmRSS or VmHWM, in bytes; 0 where the system does not tell."""
    try:
        match = re.search(
            rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii")
        )
    except OSError:
        return 0
    return int(match[1]) * 1024 if match else 0


def bytes_read() -> int:
    """By every read of this process so far; 0 where the system does not tell."""
    try:
        match = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(match[1]) if match else 0
