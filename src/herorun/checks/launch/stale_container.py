"""The container image was built from another commit.

Why: the job runs what is in the image, whatever the checkout says.
Fix: build the image from this commit, with the label org.opencontainers.image.revision, and name
its digest in `[runtime] container`; or launch from the commit that it was built from.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import limit_lines, of_impact
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import Container, ImportClosure, WorkTree
from herorun.core.finding import Verdict, failed, few, passed, unknown

MIN_DIGITS = 7  # hexadecimal digits: fewer do not name a commit


@check(Gate.LAUNCH, Response.BLOCK)
def stale_container(
    container: Container, tree: WorkTree, contract: Contract, closure: ImportClosure
) -> Verdict:
    """A shortened revision is accepted, and so is one that differs from HEAD only in files of no
    impact.
    """
    image, revision = container.image, (container.revision or "").strip().lower()
    if not revision:
        return unknown(
            f"{image} does not say which commit it was built from: it has no revision label",
            subject=image,
        )
    if len(revision) >= MIN_DIGITS and tree.commit.startswith(revision):
        return passed(f"{image} was built from {tree.commit:.9}", subject=image)
    message = f"{image} was built from {revision:.40}, not from {tree.commit:.9}"
    if not container.known_here:
        return failed(f"{message}; {revision:.40} is not a commit of this clone", subject=image)
    files = of_impact(container.changed, contract.code.impact, closure.files, Impact.BLOCK)
    if files:
        return failed(
            f"{message}; these files differ: {few(files)}", *limit_lines(files), subject=image
        )
    message = f"{message}, and nothing between the two can change the training"
    return passed(message, *limit_lines(container.changed), subject=image)
