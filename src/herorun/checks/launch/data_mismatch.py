"""The training data is not what the contract pins.

Why: data rewritten under the same name trains a different model, and a resume repeats or skips
examples.
Fix: restore the data; or pin the intended data in `[data] manifests`, and launch it as a new run.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import DataFound
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def data_mismatch(contract: Contract, data: DataFound) -> list[Verdict]:
    """One verdict for each manifest."""
    manifests = contract.data.manifests
    if not manifests:
        return [not_applicable("the contract pins no data")]
    return [_judge_path(path, digest, data) for path, digest in manifests.items()]


def _judge_path(path: str, digest: str, data: DataFound) -> Verdict:
    if path in data.unread or path not in data.digests:
        why = data.unread.get(path, "no source returned it")
        return unknown(f"{path} could not be read: {why}", subject=path)
    actual = data.digests[path]
    if actual is None:
        return failed(f"{path} does not exist", subject=path)
    if actual != digest:
        return failed(f"{path} is {actual}, but the contract pins {digest}", subject=path)
    return passed(f"{path} is {digest}", subject=path)
