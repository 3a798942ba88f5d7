"""One state from what was seen: done is what is declared to be done, and unknown is never down.
Pure.
"""

from herorun.core.clock_skew import SKEW
from herorun.core.patrol.advice import PatrolState
from herorun.core.patrol.observation import Alive, Blind, HostObservation, Own


def patrol_state_of(look: HostObservation) -> PatrolState:
    """Done is what is declared to be done, never the mere end of a process; unknown is never
    down.
    """
    if look.unreachable:
        return PatrolState.UNKNOWN
    done = all_done(look)
    if done:
        return PatrolState.DONE
    if look.alive is Alive.YES or chain_runs(look):
        return PatrolState.RUNNING
    if look.alive is Alive.UNKNOWN or done is None:
        return PatrolState.UNKNOWN
    return PatrolState.DONE if look.succeeded and not _declared(look) else PatrolState.DOWN


def fresh(look: HostObservation, path: str) -> bool | None:
    """Whether a marker is there, and of this run; None where nobody could look."""
    found = look.markers[path]
    if isinstance(found, Blind):
        return None
    return found is not None and (look.began is None or found >= look.began - SKEW)


def all_done(look: HostObservation) -> bool | None:
    """Every sign that was declared: markers, words of success, results, copies. None: one could not
    be seen.
    """
    signs = _signs(look)
    if False in signs:
        return False
    return None if None in signs else bool(signs)


def _signs(look: HostObservation) -> list[bool | None]:
    signs = [fresh(look, path) for path in look.markers]
    signs += [
        None if isinstance(each, Blind) else each is not None for each in look.results.values()
    ]
    if isinstance(look.log, Own) and look.log.done is not None:
        signs.append(look.log.done)
    return signs + [copy.whole for copy in look.copies] if signs else []


def _declared(look: HostObservation) -> bool:
    return bool(_signs(look))


def chain_runs(look: HostObservation) -> bool:
    return look.chain is not None and not isinstance(look.chain, Blind) and look.chain.runs
