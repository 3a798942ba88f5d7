"""Everything that a check may know. One module a theme; all of it is imported from here."""

from herorun.core.evidence.base import *
from herorun.core.evidence.checkpoints import *
from herorun.core.evidence.identity import *
from herorun.core.evidence.jobs import *
from herorun.core.evidence.monitoring import *
from herorun.core.evidence.record import *
from herorun.core.evidence.reports import *
from herorun.core.evidence.runtime import *
from herorun.core.evidence.seal import *
from herorun.core.evidence.settings import *
from herorun.core.evidence.tree import *
