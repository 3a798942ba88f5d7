"""Free space on the disks of the output roots."""

import shutil
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.evidence import FreeDisk, Nothing


def read_free_disk(contract: Contract) -> FreeDisk | Nothing:
    """Of each root on this machine; an OSError, where a disk cannot be asked, is made `Unavailable`
    by `gather`.
    """
    told = (contract.output.root, contract.output.temporary_root)
    roots = [root for root in told if root and "://" not in root]
    if not roots:
        return Nothing("no output root is a path on this machine")
    return FreeDisk({root: shutil.disk_usage(_nearest(Path(root))).free for root in roots})


def _nearest(path: Path) -> Path:
    """The folder itself, or the one above that exists: a root is made by the job."""
    try:
        path.stat()
    except FileNotFoundError:
        return _nearest(path.parent)
    return path
