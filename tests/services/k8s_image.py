"""Container images made by hand, for a containerd that has no registry to pull from: an OCI layout
as a tar, with busybox and what it needs of this machine's libraries.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

NAME = "registry.test/train"
PAUSE = "registry.test/pause:1"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"


def write_image(path: Path) -> str:
    """The images `NAME`, by its digest, which is the answer, and `PAUSE`: one content."""
    layer = _layer()
    rootfs = {"type": "layers", "diff_ids": [_digest(layer)]}
    config = _text(
        architecture=_architecture(),
        os="linux",
        config={"Entrypoint": ["/bin/sleep", "infinity"], "Env": ["PATH=/bin"]},
        rootfs=rootfs,
    )
    manifest = _text(
        schemaVersion=2,
        mediaType=_MANIFEST,
        config=_describe(_CONFIG, config),
        layers=[_describe(_LAYER, layer)],
    )
    digest = _digest(manifest)
    entries = [
        {**_describe(_MANIFEST, manifest), "annotations": {"io.containerd.image.name": name}}
        for name in (f"{NAME}@{digest}", PAUSE)
    ]
    files = {f"blobs/sha256/{_digest(blob)[7:]}": blob for blob in (layer, config, manifest)}
    files["index.json"] = _text(schemaVersion=2, manifests=entries)
    files["oci-layout"] = _text(imageLayoutVersion="1.0.0")
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            _add(archive, name, data)
    return digest


def _layer() -> bytes:
    """busybox under each of its names."""
    busybox = Path(shutil.which("busybox") or "/bin/busybox")
    libraries = subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False)
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        _add(archive, "bin/busybox", busybox.read_bytes(), 0o755)
        for path in re.findall(r"(/\S+) \(0x", libraries.stdout):
            _add(archive, path.lstrip("/"), Path(path).read_bytes(), 0o755)
        for name in names.stdout.split():
            if name != "busybox":
                link = tarfile.TarInfo(f"bin/{name}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                archive.addfile(link)
    return buffer.getvalue()


def _architecture() -> str:
    answer = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    archive.addfile(entry, io.BytesIO(data))


def _text(**document: Any) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _describe(kind: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": _digest(data), "size": len(data)}
