"""Azure Blob Storage and Data Lake Storage by adlfs: `abfs://container/path`, or
`abfs://container@account.dfs.core.windows.net/path`. Needs the extra
`azure`.

Every call is one of the Blob service's own requests, as in `gs`; credentials are found as adlfs
finds them, and never an anonymous request because there are none.
"""

from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any, TypeVar

from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.stores._azure_client import (
    NO_ACCOUNT,
    NO_LOGIN,
    login,
    open_azure,
    service_message,
)
from herorun.stores._azure_requests import (
    container_of,
    copy_object,
    delete_object,
    list_pages,
    put_object,
    read_digest,
    read_facts,
    read_object,
    read_rules,
)
from herorun.stores._fsspec import DEADLINE, Requests
from herorun.stores._object_store import ObjectStore
from herorun.stores._objects import ObjectFacts, ObjectPath

T = TypeVar("T")
LOGIN = "Azure"


class Options(AdapterOptions):
    deadline: float = Field(
        DEADLINE, gt=0, description="Seconds that one call may take, retries included."
    )


def connect(options: Options, place: Place) -> Store:
    return ObjectStore(AzureObjects(options.deadline))


class AzureObjects:
    """See `_objects.Objects`. The tag of an object is its ETag, its generation the version where
    there are any; each account has a client of its own.
    """

    scheme = "abfs"
    has_buckets = True
    keeps_generations = False

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._lock = Lock()
        self._accounts: dict[tuple[str, str], Requests] = {}

    def list_entries(self, at: ObjectPath) -> list[FileEntry]:
        return self._ask(at, lambda fs: list_pages(fs, at))

    def facts(self, at: ObjectPath) -> ObjectFacts:
        return self._ask(at, lambda fs: read_facts(fs, at))

    def digest(self, at: ObjectPath) -> FileDigest:
        return self._ask(at, lambda fs: read_digest(fs, at))

    def read(self, at: ObjectPath, last: int | None = None) -> tuple[bytes, str]:
        return self._ask(at, lambda fs: read_object(fs, at, last))

    def put(self, at: ObjectPath, data: bytes, tag: str | None) -> None:
        self._ask(at, lambda fs: put_object(fs, at, data, tag))

    def copy(self, at: ObjectPath, to: ObjectPath) -> None:
        self._ask(at, lambda fs: copy_object(fs, at, to))

    def delete(self, at: ObjectPath) -> None:
        self._ask(at, lambda fs: delete_object(fs, at))

    def region(self, at: ObjectPath) -> str | None:
        """Known to the management API alone."""
        container_of(at)
        return None

    def rules(self, at: ObjectPath) -> tuple[LifecycleRule, ...]:
        return self._ask(at, lambda fs: read_rules(fs, at))

    def examine(self) -> tuple[DoctorPart, ...]:
        """The login alone: that there is one."""
        try:
            answer = self._requests("", "").ask(LOGIN, login)
            return (DoctorPart("login", LOGIN, Fit.OK, answer),)
        except OSError as error:
            lacks = NO_LOGIN in str(error) or NO_ACCOUNT in str(error)
            fit = Fit.FAILED if lacks else Fit.UNKNOWN
            return (DoctorPart("login", LOGIN, fit, str(error)),)

    def _ask(self, at: ObjectPath, act: Callable[[Any], Awaitable[T]]) -> T:
        _, account, host = container_of(at)
        return self._requests(account, host).ask(str(at), act)

    def _requests(self, account: str, host: str) -> Requests:
        with self._lock:
            return self._accounts.setdefault(
                (account, host),
                Requests(lambda: open_azure(account, host), self._deadline, service_message),
            )
