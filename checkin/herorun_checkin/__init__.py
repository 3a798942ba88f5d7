"""What a training job needs of herorun; scripts import it as `herorun`."""

from .checkin import EXIT_REFUSED, Refused, check_in
from .log import log

__all__ = ["EXIT_REFUSED", "Refused", "check_in", "log"]
