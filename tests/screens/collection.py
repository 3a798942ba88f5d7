"""All screens."""

from screens.catalogue import catalogue
from screens.details import detail_screens
from screens.outcomes import outcome_screens
from screens.rarer import rarer_screens
from screens.refusals import refusal_screens
from screens.rendering import Screen


def all_screens() -> list[Screen]:
    return [
        *catalogue(),
        *refusal_screens(),
        *outcome_screens(),
        *detail_screens(),
        *rarer_screens(),
    ]
