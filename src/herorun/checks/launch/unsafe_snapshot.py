"""The uncommitted changes that a waiver allows contain something that should not be pushed: a
likely secret, or too much data.

Why: a snapshot goes to the remote and stays there; a secret in it is published.
Fix: remove the secret from the file; ignore or remove large files, or raise
`[code] snapshot_max_mb`; or commit and push.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Snapshot
from herorun.core.finding import Verdict, count, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def unsafe_snapshot(snapshot: Snapshot, contract: Contract) -> list[Verdict]:
    """One verdict for each file that may contain a secret, and one for the size. No verdict quotes
    a secret.
    """
    cap = contract.code.snapshot_max_mb
    if not snapshot.commit:
        size = f"{snapshot.bytes / 1e6:.1f} MB in {few(snapshot.files)}"
        return [
            failed(
                f"{size}: more than [code] snapshot_max_mb = {cap}",
                *snapshot.files[:20],
                subject="size",
            )
        ]
    places: dict[str, list[str]] = {}
    for place in snapshot.secrets:
        path, _, line = place.rpartition(":")
        in_snapshot = path in snapshot.files
        places.setdefault(path if in_snapshot else place, []).append(line if in_snapshot else "")
    if not places:
        files = len(snapshot.files)
        return [
            passed(f"{count(files, 'file')}, {count(snapshot.bytes, 'byte')}, and no secret found")
        ]
    return [_unsafe(path, [line for line in lines if line]) for path, lines in places.items()]


def _unsafe(path: str, lines: list[str]) -> Verdict:
    where = f" (line{'s' if len(lines) > 1 else ''} {few(lines)})" if lines else ""
    return failed(
        f"{path}{where} may contain a secret",
        *(f"{path}:{line}" for line in lines),
        subject=path,
    )
