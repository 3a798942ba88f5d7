"""A run of a week whose output root is a bucket of a Cloud Storage emulator, and what goes wrong
there.

Its job saves on the disk as every other's does; what is complete there is copied into the bucket,
which herorun alone reads.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from services.servers import Service

NAME = "week"
LISTING = f"/b/{NAME}/o?"  # of a request for one, and not for an object
CUT = '{"kind": "storage#objects", "items": [{"name": "r0/step-2/met'
AWAY = 5.0  # seconds that a fault lasts at least


@dataclass
class Bucket:
    """The copy of one run's checkpoints."""

    server: Service
    copied_names: set[str] = field(default_factory=set)  # folders

    def begin(self) -> None:
        self.server.tell("bucket", name=NAME)

    def root(self, slug: str) -> str:
        return f"gs://{NAME}/{slug}"

    def copy(self, slug: str, root: Path) -> None:
        """What is new, the marker last; and what was deleted is."""
        with suppress(OSError):  # nobody can read the disk: nothing changes
            complete = {path.parent.name for path in root.glob("step-*/metadata.json")}
            for name in sorted(complete - self.copied_names):
                for file in ("weights", "metadata.json"):
                    text = (root / name / file).read_text()
                    self.server.tell("fill", bucket=NAME, files={f"{slug}/{name}/{file}": text})
                self.copied_names.add(name)
            for name in sorted(self.copied_names - complete) if root.is_dir() else ():
                self._delete(f"{slug}/{name}/metadata.json")
                self._delete(f"{slug}/{name}/weights")
                self.copied_names.discard(name)

    def _delete(self, name: str) -> None:
        url = f"{self.server.url}/storage/v1/b/{NAME}/o/{quote(name, safe='')}"
        try:
            urlopen(Request(url, method="DELETE"), timeout=60).close()
        except HTTPError as error:
            if error.code != 404:
                raise

    def fail(self, **answer: object) -> None:
        """Answer so, to all that is asked of the bucket, until it is healed."""
        self.server.fault(**{"url": f"/b/{NAME}/o", **answer})
        time.sleep(AWAY)
