"""MLflow's REST API 2.0 over `requests`, without MLflow's own client: one request, one JSON answer.

Only the server's own answer counts. A proxy's page, a redirect to a login or an invalid JSON body
is a failure, never "there is no such run".
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from herorun.core.durations import format_span
from herorun.core.redaction.scrub import scrub

Answer: TypeAlias = Mapping[str, Any]

API = "/api/2.0/mlflow/"
MAX_ANSWER_BYTES = 64 << 20  # bytes of one answer: 25,000 points of a metric are 3 MiB
RETRIES = 3  # of a request that was rate-limited, or met a restarting server
BACKOFF = 0.3  # seconds before the first retry; doubled for each further one
BUSY = (429, 502, 503, 504)
MISSING = "RESOURCE_DOES_NOT_EXIST"
NOT_MLFLOW = "{} gave an answer that is not MLflow's: correct [tracker] uri"


class MlflowClient:
    """A server and its credentials: a bearer token, or a name and a password, or none.

    Raises FileNotFoundError if the server says that the object does not exist, and another OSError
    for every other failure.
    """

    def __init__(self, uri: str, token: str, login: tuple[str, str] | None, seconds: int) -> None:
        self.uri = uri
        self._token, self._login, self._seconds = token, login, seconds
        self._session: Any = None

    def get(self, name: str, **query: str | int) -> Answer:
        return self._ask("GET", name, params=query)

    def post(self, name: str, body: Mapping[str, Any]) -> Answer:
        return self._ask("POST", name, json=body)

    def _ask(self, method: str, name: str, **content: Any) -> Answer:
        import requests
        from urllib3.exceptions import HTTPError, ReadTimeoutError

        try:
            with self._connection().request(
                method,
                f"{self.uri}{API}{name}",
                timeout=self._seconds,
                allow_redirects=False,  # may lead to a login page, or leak the token
                stream=True,
                **content,
            ) as response:
                body = response.raw.read(MAX_ANSWER_BYTES + 1, decode_content=True)
                return self._answer(name, response.status_code, body)
        except (requests.Timeout, ReadTimeoutError):
            raise OSError(
                f"{self.uri} gave no answer within {format_span(self._seconds)}"
            ) from None
        except (requests.RequestException, HTTPError) as error:
            raise OSError(
                f"{self.uri} could not be reached ({type(error).__name__}): is the MLflow server "
                "running, and [tracker] uri its address?"
            ) from None

    def _connection(self) -> Any:
        """One connection for all requests of a read: a history takes one request for each
        metric.
        """
        if self._session is None:
            import requests
            from requests.adapters import HTTPAdapter
            from urllib3.util import Retry

            retries = Retry(
                total=RETRIES,
                connect=0,
                read=False,
                status_forcelist=BUSY,
                allowed_methods=None,  # all requests here only read
                backoff_factor=BACKOFF,
                respect_retry_after_header=False,  # it may say an hour
                raise_on_status=False,
            )
            self._session = requests.Session()
            for scheme in ("http://", "https://"):
                self._session.mount(scheme, HTTPAdapter(max_retries=retries))
            if self._token:
                self._session.auth = self._bear
            elif self._login:
                self._session.auth = self._login
        return self._session

    def _bear(self, request: Any) -> Any:
        """Set here and not as a header of the session, which a netrc file would overrule."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _answer(self, name: str, status: int, body: bytes) -> Answer:
        if len(body) > MAX_ANSWER_BYTES:
            raise OSError(f"{self.uri} gave more than {MAX_ANSWER_BYTES >> 20} MiB for {name}")
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if status == 200 and isinstance(document, dict):
            return document
        code = document.get("error_code") if isinstance(document, dict) else None
        if status == 404 and code == MISSING:
            raise FileNotFoundError(f"MLflow has no such object ({name})")
        message = document.get("message") if isinstance(document, dict) else None
        raise OSError(self._refusal(name, status, str(message or "")))

    def _refusal(self, name: str, status: int, message: str) -> str:
        match status:
            case 401:
                return (
                    f"{self.uri} refused the credentials (401): set the variables that [tracker] "
                    "token_env, or username_env and password_env, name"
                )
            case 403:
                return f"{self.uri} forbids us to read this ({name}: 403): ask for access"
            case 429:
                return f"{self.uri} was asked too often (429): the next tick asks again"
            case 200 | 404:
                return NOT_MLFLOW.format(self.uri)
            case _ if 300 <= status < 400:
                return f"{NOT_MLFLOW.format(self.uri)} (it redirects: HTTP {status})"
        detail = f": {scrub(' '.join(message.split()))[:300]}" if message else ""
        return f"{self.uri} could not answer {name}: HTTP {status}{detail}"
