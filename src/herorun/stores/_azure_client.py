"""The Blob service's client with the credentials that adlfs finds, opened so that it neither
guesses nor caches; its errors by their codes.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from herorun.core.errors import WrongUse, describe_error
from herorun.core.extras import how_to_install
from herorun.stores._fsspec import NOW, MalformedAnswer

ENVIRONMENT = (
    "set AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or "
    "AZURE_STORAGE_CONNECTION_STRING, or run `az login`"
)
NO_ACCOUNT = f"no Azure storage account is named: {ENVIRONMENT}"
NO_LOGIN = f"no Azure credentials: {ENVIRONMENT}"
REFUSED_LOGINS = {
    "401",
    "AuthenticationFailed",
    "InvalidAuthenticationInfo",
    "NoAuthenticationInformation",
}
# a precondition of ours; another person's lease or policy is refused by other codes
REFUSALS = {
    "BlobAlreadyExists",
    "ConditionNotMet",
    "TargetConditionNotMet",
    "UploadBlobAlreadyExists",
}
SCOPE = "https://storage.azure.com/.default"
RETRIES, BACKOFF = 4, 1  # times, and seconds before the first; the client's own waits 15


def open_azure(account: str, host: str) -> Any:
    """A file system of adlfs, whose client retries soon and records each failed attempt. `account`
    and `host`: "" for those of the environment.
    """
    system = _file_system(account, host)
    client = system.service_client
    if account and client.account_name != account:
        raise OSError(
            f"AZURE_STORAGE_CONNECTION_STRING is for the account {client.account_name}, but the "
            f"path names {account}: correct one of them"
        )
    system.service_client = _client(client.url, client.credential)
    return system


def _file_system(account: str, host: str) -> Any:
    try:
        from adlfs import AzureBlobFileSystem
    except ImportError:
        raise WrongUse(
            f"Paths of abfs:// need the package adlfs: {how_to_install('azure')}."
        ) from None
    try:
        return AzureBlobFileSystem(
            account_name=account or None,
            account_host=host or None,
            anon=False,
            use_listings_cache=False,
            skip_instance_cache=True,
        )
    except ValueError as error:
        raise OSError(
            NO_ACCOUNT if "Must provide" in str(error) else describe_error(error)
        ) from None


def _client(url: str, credential: Any) -> Any:
    # Its warnings about an answer would go to standard error, next to the error that we report.
    logger = logging.getLogger("azure")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    from azure.storage.blob.aio import BlobServiceClient, ExponentialRetry

    class NotedRetry(ExponentialRetry):
        """Records the error of each failed attempt, because the client retries silently."""

        def increment(
            self, settings: Any, request: Any, response: Any = None, error: Any = None, **more: Any
        ) -> bool:
            NOW.get().add_result(
                _status(response) if response is not None else describe_error(error)
            )
            return bool(super().increment(settings, request, response, error, **more))

    retry = NotedRetry(initial_backoff=BACKOFF, increment_base=2, retry_total=RETRIES)
    return BlobServiceClient(url, credential=credential, retry_policy=retry)


def _status(response: Any) -> str:
    code = response.headers.get("x-ms-error-code", "")
    return " ".join(dict.fromkeys(part for part in (str(response.status_code), code) if part))


@asynccontextmanager
async def missing() -> AsyncIterator[None]:
    """Turns "not found" into FileNotFoundError."""
    try:
        yield
    except Exception as error:
        if getattr(error, "status_code", None) == 404:
            raise FileNotFoundError from error
        raise


@asynccontextmanager
async def listing() -> AsyncIterator[None]:
    """Turns errors of an invalid listing into our own: the client accepts any XML, and fails
    later.
    """
    try:
        yield
    except (AttributeError, TypeError):
        raise MalformedAnswer("an answer that is no listing") from None


async def login(fs: Any) -> str:
    """The source of the credentials, after fetching a token if they need one."""
    token = getattr(fs.credential, "get_token", None)
    if token is not None:
        await token(SCOPE)
        return "a token was given"
    account = fs.service_client.account_name
    kind = "account key" if fs.service_client.credential else "shared access signature"
    return f"{kind} of {account}; a listing shows whether it is accepted"


def error_code(error: BaseException) -> str:
    """The service's error code, such as BlobNotFound; otherwise the status; "" without an
    answer.
    """
    code = getattr(error, "error_code", None) or getattr(error, "status_code", None) or ""
    return str(getattr(code, "value", code))


def service_message(error: Exception) -> str:
    """The service's message, without the request's number and time."""
    if type(error).__name__ in ("CredentialUnavailableError", "ClientAuthenticationError") and (
        getattr(error, "status_code", None) is None
    ):
        return NO_LOGIN
    if not error_code(error):
        return describe_error(error)
    status, code = str(getattr(error, "status_code", None) or ""), error_code(error)
    lines = str(getattr(error, "message", "")).splitlines() or [""]
    status_words = " ".join(dict.fromkeys(part for part in (status, code) if part))
    refusals = {status, code} & REFUSED_LOGINS
    hint = "; the Azure credentials have expired or are not valid" if refusals else ""
    return f"{status_words}, {lines[0]}{hint}"
