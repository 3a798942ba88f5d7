"""All cases of a test as one item of `make test`, which names each that fails.

A case of half the tests takes less than a millisecond, and an item two more: to be scheduled, set
up, reported and sent. Only cases that are nothing but values are merged: no fixture, mark or
example of Hypothesis is theirs.
"""

from typing import Any

import pytest

FAILED_CASES = "failed cases"


class MergedCases(pytest.Item):
    cases: list[pytest.Function]

    def runtest(self) -> None:
        failures: list[BaseException] = []
        left_out: list[str] = []
        for case in self.cases:
            try:
                case.obj(**case.callspec.params)
            except pytest.skip.Exception as error:
                left_out.append(f"{case.name}: {error}")
            except (KeyboardInterrupt, pytest.exit.Exception):
                raise
            except BaseException as error:  # also of `sys.exit`: the other cases still run
                error.add_note(f"case: {case.nodeid}")
                failures.append(error)
        names = [str(error.__notes__[-1]) for error in failures]
        failed_ids = [name.removeprefix("case: ") for name in names]
        self.user_properties.append((FAILED_CASES, failed_ids))
        if failures:
            title = f"{len(failures)} of {len(self.cases)} cases"
            raise BaseExceptionGroup("\n".join([title, *names]), failures)
        if left_out:  # a case that its own test skips is reported with its reason, as alone
            pytest.skip("\n".join(left_out))

    def reportinfo(self) -> Any:
        path, line, _ = self.cases[0].reportinfo()
        return path, line, self.name


class MergingPlugin:
    """Merges what is left when the marks have been looked at."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed_ids: dict[str, list[str]] = {}  # by merged item

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = merge_cases(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        if report.when == "call" and FAILED_CASES in properties:
            self._failed_ids[str(report.nodeid)] = properties[FAILED_CASES]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """What failed is remembered by its own name: `--lf` finds it by that, and never merges."""
        cache = getattr(self._config, "cache", None)
        if cache is None or not self._failed_ids:
            return
        last_failed = {
            nodeid: True
            for nodeid in cache.get("cache/lastfailed", {})
            if nodeid.partition("[")[0] not in self._failed_ids
        }
        for failed_ids in self._failed_ids.values():
            last_failed.update(dict.fromkeys(failed_ids, True))
        cache.set("cache/lastfailed", last_failed)


def merge_cases(items: list[pytest.Item]) -> list[pytest.Item]:
    together: dict[Any, list[Any]] = {}
    for item in items:
        key = (item.parent, item.originalname) if _is_a_plain_case(item) else item
        together.setdefault(key, []).append(item)
    return [cases[0] if len(cases) == 1 else _as_one(cases) for cases in together.values()]


def _is_a_plain_case(item: Any) -> bool:
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return (
        set(item.fixturenames) == item.callspec.params.keys()
        and all(each.func.__module__ == "_pytest.python" for (*_, each) in definitions)
        and all(mark.name == "parametrize" for mark in item.iter_markers())
    )


def _as_one(cases: list[Any]) -> pytest.Item:
    item = MergedCases.from_parent(cases[0].parent, name=cases[0].originalname)
    item.cases = cases
    return item
