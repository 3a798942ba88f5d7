"""Links to a run's tracker, issue and record."""

from urllib.parse import urlsplit

from herorun.core.evidence import Evidence, TrackerIdentity
from herorun.core.identity.links import web_page
from herorun.core.journal import Memory
from herorun.runs import Run
from herorun.schemas.reports import ReportLink


def web_address(url: str) -> str:
    """The URL if it is that of a web page, otherwise "": a tracker may report any text.

    >>> web_address("https://example.org/run"), web_address("javascript:alert(1)")
    ('https://example.org/run', '')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""


def links_of(run: Run, memory: Memory, evidence: Evidence) -> list[ReportLink]:
    """The links; a part without a web page is described by text."""
    issue = memory.initialised.issue if memory.initialised else ""
    links = [_tracker_link(run, evidence)]
    if issue:
        links.append(ReportLink(name="Issue", text=issue, url=web_address(issue)))
    anchor = run.record.anchor
    if anchor:
        page = web_page(run.record.address, issue)
        url = web_address(f"{page}/commit/{anchor}") if page else ""
        links.append(ReportLink(name="Record", text=f"commit {anchor[:12]}", url=url))
    return links


def _tracker_link(run: Run, evidence: Evidence) -> ReportLink:
    kind, identity = run.contract.tracker.kind, evidence.get(TrackerIdentity)
    if not isinstance(identity, TrackerIdentity):
        return ReportLink(name="Tracker", text=kind, url="")
    name = identity.display_name or identity.id
    return ReportLink(
        name="Tracker", text=f"{identity.service} {name}".strip(), url=web_address(identity.url)
    )
