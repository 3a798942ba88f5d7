"""The container image of a hero run is named by a tag.

Why: a tag can be moved to another image at any time, so a relaunch may run other code than was
reviewed.
Fix: name the image by its digest (name@sha256:...) in `[runtime] container`, or in
`[scheduler] image` if the scheduler has that key.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Container, Nothing, RequestReview, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_regex import lazy_regex

DIGEST = lazy_regex(r"@(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$")


@check(Gate.LAUNCH, Response.BLOCK)
def unpinned_container(
    contract: Contract,
    container: Container | Nothing | Unavailable,
    review: RequestReview | Nothing | Unavailable,
) -> Verdict:
    """An image that is a single file has no tag; `stale-container` compares its revision."""
    review_image = review.image if isinstance(review, RequestReview) else None
    image = review_image or contract.runtime.container
    if not image:
        return not_applicable("the contract names no container")
    if DIGEST.search(image):
        return passed(f"{image} is named by its digest", subject=image)
    if image.endswith(".sif"):
        return not_applicable(f"{image} is a file, not a tag of a registry", subject=image)
    if not contract.is_hero:
        return passed(
            f"{image} is named by a tag; only hero runs must name a digest", subject=image
        )
    now = container.digest if isinstance(container, Container) else None
    note = f"; now it is {now}" if now else ""
    if "@" in image:
        return failed(f"{image} is not named by a complete digest{note}", subject=image)
    return failed(f"{image} is named by a tag, which can be moved{note}", subject=image)
