"""Where folders lie in memory: every journal line is synced to its disk, and waits for it."""

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")


def in_memory(room: int = 1 << 28) -> Path | None:
    """If the system has so many bytes of room there, and runs programs that lie there."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free > room else None
