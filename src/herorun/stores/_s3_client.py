"""The s3fs client, configured without guesses or caches; its errors by their codes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from herorun.core.errors import WrongUse, describe_error
from herorun.core.extras import how_to_install
from herorun.stores._fsspec import NOW, WriteRefused

EXPIRED_CODES = {
    "401",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
}
NONE = "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
MISSING = {"NoSuchBucket", "NoSuchKey", "404"}
REFUSALS = {"PreconditionFailed", "ConditionalRequestConflict", "412"}
SETTINGS = {
    "retries": {"mode": "standard", "max_attempts": 4},
    # Stores other than Amazon's may reject checksums that were not requested.
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
}


def open_client(endpoint: str | None) -> Any:
    try:
        from s3fs import S3FileSystem
    except ImportError:
        raise WrongUse(f"Paths of s3:// need the package s3fs: {how_to_install('s3')}.") from None
    system = S3FileSystem(
        anon=False,
        endpoint_url=endpoint,
        use_listings_cache=False,
        skip_instance_cache=True,
        config_kwargs=dict(SETTINGS),
    )
    system.connect()  # reads botocore's model of the service, which takes a moment
    return system


async def ask(fs: Any, method: str, **arguments: Any) -> Any:
    """Calls the client directly: s3fs drops arguments that an older botocore does not know, even
    preconditions.
    """
    client = await fs.set_session()
    client.meta.events.register("needs-retry.s3", _note_response, unique_id="herorun")
    try:
        return await getattr(client, method)(**arguments)
    except Exception as error:
        if error_code(error) in MISSING:
            raise FileNotFoundError from error
        raise


async def login(fs: Any) -> str:
    """Where botocore found its credentials; those that are lent for a while are lent now."""
    await fs.set_session()
    credentials = await fs.session.get_credentials()
    if credentials is None:
        raise OSError(NONE)
    await credentials.get_frozen_credentials()
    return f"credentials by {credentials.method}; a listing shows whether they are accepted"


def is_amazons(fs: Any) -> bool:
    host = urlsplit(fs.s3.meta.endpoint_url).hostname or ""
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


def _note_response(
    response: Any = None, caught_exception: Exception | None = None, **_: Any
) -> None:
    """Records each request's result; botocore calls it before a retry, and its None changes
    nothing.
    """
    if caught_exception is not None:
        NOW.get().add_result(describe_error(caught_exception))
    elif response is not None:
        status = response[0].status_code
        code = response[1].get("Error", {}).get("Code", "")
        NOW.get().add_result(
            " ".join(dict.fromkeys((str(status), code))).strip() if status >= 400 else ""
        )


def error_code(error: BaseException) -> str:
    """The service's own code, such as NoSuchKey; empty if it gave none."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def _service_message(error: Exception) -> str:
    """The service's own words, without botocore's decoration."""
    response: Any = getattr(error, "response", None)
    message = str(response["Error"].get("Message") or response["Error"]["Code"])
    if error_code(error) in EXPIRED_CODES:
        return (
            f"{message}; the AWS credentials have expired or are not valid: renew them, as with "
            "`aws sso login`"
        )
    return message


@asynccontextmanager
async def refusing() -> AsyncIterator[None]:
    """A precondition that did not hold, as `WriteRefused`."""
    try:
        yield
    except Exception as error:
        if error_code(error) in REFUSALS:
            raise WriteRefused(ours=NOW.get().count > 1) from None
        raise


def client_message(error: Exception) -> str:
    name = type(error).__name__
    if name == "NoCredentialsError":
        return NONE
    if name == "ResponseParserError":
        return "an answer that is no XML"
    if error_code(error):
        return _service_message(error)
    return describe_error(error)
