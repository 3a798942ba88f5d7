"""Everything that a check may know. One module a theme; all of it is imported from here."""

from herorun.core.evidence.base import *
from herorun.core.evidence.checkpoints import *
from herorun.core.evidence.identity import *
from herorun.core.evidence.jobs import *
from herorun.core.evidence.memory import *
from herorun.core.evidence.reports import *
from herorun.core.evidence.runtime import *
from herorun.core.evidence.sealing import *
from herorun.core.evidence.settings import *
from herorun.core.evidence.tree import *
from herorun.core.evidence.watching import *
