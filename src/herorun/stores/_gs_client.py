"""The gcsfs client, configured without guesses, caches or log output."""

import os
from threading import Lock
from typing import Any

from herorun.core.errors import describe_error
from herorun.stores._fsspec import NOW, Attempts

# on by default: a gRPC call for every bucket, which may hang
SWITCH = "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"
EXPIRED_CREDENTIALS = (
    "the Google credentials have expired or are not valid: run `gcloud auth application-default "
    "login`"
)
NONE = (
    "no Google credentials: run `gcloud auth application-default login`, or set "
    "GOOGLE_APPLICATION_CREDENTIALS"
)
_importing = Lock()


def open_client(token: str | None, endpoint: str | None) -> Any:
    """A client without caches; an emulator, if the environment names one, needs no credentials."""
    emulator_host = os.environ.get("STORAGE_EMULATOR_HOST")
    system = _client()(
        token=token or ("anon" if emulator_host else "google_default"),
        endpoint_url=endpoint,
        use_listings_cache=False,
        skip_instance_cache=True,
        session_kwargs={"trace_configs": [_trace_requests()]},
    )
    _raise_on_expiry(system.credentials)
    return system


def _raise_on_expiry(credentials: Any) -> None:
    """Raise at once if credentials cannot be renewed: gcsfs would retry silently until our
    deadline.
    """
    renew = credentials.maybe_refresh

    def renewed(*arguments: Any) -> None:
        try:
            renew(*arguments)
        except Exception as error:
            why = error.__cause__ or error
            # the credentials were not checked then
            away = type(error).__name__ == "TransportError"
            message = (
                f"{'Google gave no token' if away else EXPIRED_CREDENTIALS} ({describe_error(why)})"
            )
            if not getattr(why, "retryable", False):
                raise OSError(message) from None
            NOW.get(Attempts()).add_result(message)
            raise

    credentials.maybe_refresh = renewed


def _client() -> Any:
    """The plain class. What the job's own gcsfs does is not ours to switch: the environment stays
    as it was.
    """
    import logging

    with _importing:
        before = os.environ.get(SWITCH)
        os.environ[SWITCH] = "false"
        try:
            from gcsfs.core import GCSFileSystem
        finally:
            if before is None:
                del os.environ[SWITCH]
            else:
                os.environ[SWITCH] = before
    # it logs a traceback for what it also raises
    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)
    return GCSFileSystem


def _trace_requests() -> Any:
    """Records the result of each request, because gcsfs retries silently."""
    from asyncio import CancelledError

    from aiohttp import TraceConfig

    async def answered(session: Any, context: Any, answer: Any) -> None:
        status = answer.response.status
        why = f"{status} {answer.response.reason or ''}".strip() if status >= 400 else ""
        NOW.get().add_result(f"{why}: {EXPIRED_CREDENTIALS}" if status == 401 else why)

    async def failed(session: Any, context: Any, answer: Any) -> None:
        if not isinstance(answer.exception, CancelledError):  # by our own deadline
            NOW.get().add_result(describe_error(answer.exception))

    trace = TraceConfig()
    trace.on_request_end.append(answered)
    trace.on_request_exception.append(failed)
    return trace


async def login(fs: Any) -> str:
    """Whose credentials these are, once they have fetched a token where they need one."""
    credentials = fs.credentials.credentials
    if credentials is None:
        return "none, and an emulator wants none"
    fs.credentials.maybe_refresh()
    who = getattr(credentials, "service_account_email", "") or getattr(credentials, "account", "")
    return f"a token for {who or 'the application default credentials'} was given"


def error_message(error: Exception) -> str:
    """The service's message, without gcsfs's own decoration."""
    name = type(error).__name__
    if name == "DefaultCredentialsError":
        return NONE
    if name == "JSONDecodeError":
        return "an answer that is not JSON"
    message = getattr(error, "message", None)
    message = str(error) if message is None else message
    return (
        str(message).rpartition("\n")[2]
        if name in ("OSError", "HttpError", "ValueError")
        else describe_error(error)
    )
