"""What is not Ray's dashboard, or cannot answer: one sentence, never "no such job", and never a
long wait.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import ValidationError

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.ports import Absent, Found, Place, Submission, Unknown
from herorun.schedulers import ray
from herorun.schedulers._ray.local_state import SubmissionFiles, SubmissionNote
from herorun.schedulers.external import ray as by_id
from wording import mentions

RECORDING = json.loads((Path(__file__).parents[1] / "recordings" / "ray" / "jobs.json").read_text())
LONG_AGO = datetime(2026, 11, 1, tzinfo=UTC)
VERSION = {"version": "4", "ray_version": "2.60.0", "session_name": "session_a"}
NO_JOB = (404, "Job tiny-1 does not exist")


class Stand:
    """A dashboard that answers as it is told: path -> (status, body), or a body, for every method;
    or what makes it of what was sent.
    """

    def __init__(self) -> None:
        self.answers: dict[str, object] = {
            "/api/version": VERSION,
            "/api/jobs/": [],
            "/api/jobs/tiny-1": NO_JOB,
        }
        self.other: object = (404, "404: Not Found")
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.slowly = 0.0
        stand = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                path = self.path.partition("?")[0]
                stand.requests.append(f"{self.command} {path}")
                stand.headers.append(dict(self.headers))
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                value = stand.answers.get(path, stand.other)
                value = value(content) if callable(value) else value
                status, body = value if isinstance(value, tuple) else (200, value)
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                if status == 302:
                    self.send_header("Location", "/login")
                self.end_headers()
                for byte in (data[i : i + 1] for i in range(len(data))) if stand.slowly else [data]:
                    time.sleep(stand.slowly)
                    self.wfile.write(byte)
                    self.wfile.flush()

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # of a client that went away
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def stand() -> Iterator[Stand]:
    new_stand = Stand()
    yield new_stand
    new_stand.server.shutdown()
    new_stand.server.server_close()


@pytest.fixture
def adapter(stand: Stand, tmp_path: Path) -> Callable[..., ray.Ray]:
    def make(address: str = stand.url, **options: object) -> ray.Ray:
        fields = {
            "address": address,
            "code": "shared",
            "settle": "1ms",
            "timeout": "20s",
            **options,
        }
        return ray.connect(
            ray.Options.model_validate(fields), Place("tiny", str(tmp_path), "/out", "/repo")
        )

    return make


def why(value: object) -> str:
    assert isinstance(value, Unknown), value
    assert "\n" not in value.why and "Traceback" not in value.why
    return value.why


# --- not the dashboard ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, "Unauthorized"), "refuses us (HTTP 401)"),
        ((403, "no"), "token_env"),
        ((302, ""), "us elsewhere"),
        ((200, "<html>Log in</html>"), "than JSON"),
        ((200, ""), "than JSON"),
        ((200, []), "unknown format"),
        ((404, "404: Not Found"), "Jobs API"),
        (
            (
                500,
                "Traceback (most recent):\n  ...\nRuntimeError: the agent is down\n.\n",
            ),
            "the agent is down",
        ),
        ((503, ""), "HTTP 503"),
    ],
)
def test_what_is_no_answer_about_a_job_is_unsure(stand, adapter, answer, words) -> None:
    stand.answers["/api/jobs/tiny-1"] = stand.answers["/api/jobs/"] = answer
    assert words in why(adapter().find("tiny-1", LONG_AGO))
    if answer[1] != []:
        assert words in why(adapter().find_all({"tiny-1": LONG_AGO})["tiny-1"])
        with pytest.raises(CouldNotLook):
            adapter().live_jobs("tiny")


def test_nobody_listens(adapter) -> None:
    assert mentions(
        why(adapter("http://127.0.0.1:1").find("tiny-1", LONG_AGO)), "Connection", "refused"
    )


def test_no_such_host(adapter) -> None:
    assert mentions(
        why(adapter("http://ray.invalid:8265").find("tiny-1", LONG_AGO)), "cannot", "reached"
    )


def test_tls_with_a_server_that_has_none(stand, adapter) -> None:
    assert "TLS failed" in why(
        adapter(stand.url.replace("http:", "https:")).find("tiny-1", LONG_AGO)
    )


def test_a_server_that_trickles_is_not_waited_for(stand, adapter) -> None:
    stand.answers["/api/jobs/tiny-1"] = RECORDING["succeeded"]
    stand.slowly, began = 0.05, time.monotonic()
    assert mentions(why(adapter(timeout="500ms").find("tiny-1", LONG_AGO)), "within", "0.5s")
    assert time.monotonic() - began < 15


def test_a_version_without_a_session_is_none_to_submit_to(stand, adapter, tmp_path) -> None:
    stand.answers["/api/version"] = {"version": "1"}
    with pytest.raises(CouldNotLook, match=r"dashboard.*2\.9"):
        adapter().submit(Submission("tiny-1", ("true",), ".", {}, ()), str(tmp_path), "")
    assert not [request for request in stand.requests if request.startswith("POST")]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "auto",
        "ray://head:10001",
        "head:8265",
        "http://",
        "http://u:p@head",
        "http://head/x",
        "http://head:99999",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValidationError):
        ray.Options.model_validate({"address": address})


def test_the_address_never_comes_from_the_environment(adapter, stand, monkeypatch) -> None:
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    stand.answers["/api/jobs/tiny-1"] = RECORDING["succeeded"]
    assert isinstance(adapter().find("tiny-1", LONG_AGO), Found)
    with pytest.raises(ValidationError, match="address"):
        ray.Options.model_validate({})


# --- tokens ---------------------------------------------------------------------------------------


def test_a_token_is_sent_and_shown_nowhere(stand, adapter, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RAY_TOKEN", "correct-horse\n")
    monkeypatch.setenv("GATE", "battery")
    mine = adapter(token_env="RAY_TOKEN", header_env={"X-Gate": "GATE"})
    search = mine.find("tiny-2", LONG_AGO)
    assert (stand.headers[0]["Authorization"], stand.headers[0]["X-Gate"]) == (
        "Bearer correct-horse",
        "battery",
    )
    assert "correct-horse" not in f"{search} {mine.__dict__} {mine._take_snapshot()}"


def test_a_token_that_is_not_set_is_named(adapter, stand, monkeypatch) -> None:
    monkeypatch.delenv("RAY_TOKEN", raising=False)
    assert mentions(why(adapter(token_env="RAY_TOKEN").find("tiny-1", LONG_AGO)), "RAY_TOKEN")
    assert stand.requests == []


# --- absent ---------------------------------------------------------------------------------------


def nodes(started_at: datetime) -> dict[str, object]:
    node = {
        "node_id": "a",
        "node_ip": "192.0.2.2",
        "state": "ALIVE",
        "start_time_ms": started_at.timestamp() * 1000,
    }
    return {"data": {"result": {"result": [node]}}}


def test_a_cluster_that_is_older_than_the_intent_can_say_that_there_is_no_such_job(
    stand, adapter
) -> None:
    stand.answers["/api/v0/nodes"] = nodes(LONG_AGO - timedelta(hours=1))
    assert adapter().find("tiny-1", LONG_AGO) == Absent()
    assert adapter().find_all({"tiny-1": LONG_AGO}) == {"tiny-1": Absent()}


def test_one_that_is_younger_has_forgotten_what_ran_before(stand, adapter) -> None:
    stand.answers["/api/v0/nodes"] = nodes(LONG_AGO + timedelta(hours=1))
    answer = adapter().find("tiny-1", LONG_AGO)
    assert isinstance(answer, Unknown) and answer.forgotten
    assert mentions(answer.why, "started", "tiny-1")


def test_an_older_job_proves_that_a_new_head_has_kept_its_memory(stand, adapter) -> None:
    stand.answers["/api/v0/nodes"] = nodes(LONG_AGO + timedelta(hours=1))
    stand.answers["/api/jobs/"] = [RECORDING["succeeded"] | {"submission_id": "x", "start_time": 1}]
    assert adapter().find("tiny-1", LONG_AGO) == Absent()


def test_the_session_of_the_submission_decides_where_it_is_known(stand, adapter, tmp_path) -> None:
    stand.answers["/api/v0/nodes"] = nodes(LONG_AGO - timedelta(hours=1))
    SubmissionFiles(tmp_path / "ray").keep_sent(
        "tiny-1", SubmissionNote("session_before", stand.url, LONG_AGO)
    )
    answer = adapter().find("tiny-1", LONG_AGO)
    assert "session_before" in why(answer) and answer.forgotten
    SubmissionFiles(tmp_path / "ray").keep_sent(
        "tiny-1", SubmissionNote("session_a", stand.url, LONG_AGO)
    )
    assert adapter().find("tiny-1", LONG_AGO) == Absent()


@pytest.mark.parametrize("path", ["/api/version", "/api/v0/nodes"])
def test_a_question_without_an_answer_proves_nothing(stand, adapter, tmp_path, path) -> None:
    SubmissionFiles(tmp_path / "ray").keep_sent(
        "tiny-2", SubmissionNote("session_a", stand.url, LONG_AGO)
    )
    stand.answers[path] = (500, "no")
    stand.answers["/api/jobs/tiny-2"] = (404, "Job tiny-2 does not exist")
    assert "HTTP 500" in why(
        adapter().find("tiny-2" if path == "/api/version" else "tiny-1", LONG_AGO)
    )


def test_a_damaged_note_is_reported_and_decides_nothing(stand, adapter, tmp_path) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "tiny-1.sent.json").write_text("{")
    assert mentions(why(adapter().find("tiny-1", LONG_AGO)), "tiny-1.sent.json", "read")


def test_too_early_is_unsure(stand, adapter) -> None:
    assert "too early" in why(adapter(settle="1h").find("tiny-1", datetime.now(UTC)))


# --- jobs that are not ours -----------------------------------------------------------------------


def test_a_strangers_job_of_our_name_is_neither_ours_nor_touched(stand, adapter, tmp_path) -> None:
    stand.answers["/api/jobs/tiny-1"] = RECORDING["succeeded"] | {
        "metadata": {},
        "status": "RUNNING",
    }
    assert mentions(why(adapter().find("tiny-1", LONG_AGO)), "submit")
    with pytest.raises(WrongUse, match=r"job tiny-1.*prefix"):
        adapter().submit(Submission("tiny-1", ("true",), ".", {}, ()), str(tmp_path), "")
    with pytest.raises(WrongUse, match="left alone"):
        adapter().stop("tiny-1", "ada@box")
    assert not [request for request in stand.requests if request.startswith("POST")]


def test_one_of_another_plan_is_not_adopted(stand, adapter, tmp_path) -> None:
    (tmp_path / "admission.json").write_text('{"plan": "sha256:2"}')
    details = RECORDING["succeeded"]
    stand.answers["/api/jobs/tiny-1"] = details | {
        "metadata": details["metadata"] | {"herorun_plan": "sha256:1"}
    }
    with pytest.raises(WrongUse, match=r"another.*plan"):
        adapter().submit(
            Submission("tiny-1", ("true",), ".", {}, ()),
            str(tmp_path),
            str(tmp_path / "admission.json"),
        )


def test_the_remnant_of_a_deleted_job_shows_nothing(stand, adapter) -> None:
    stand.answers["/api/jobs/tiny-1"] = RECORDING["a remnant"]
    assert "deleted" in why(adapter().find("tiny-1", LONG_AGO))
    assert "deleted" in why(
        by_id.connect(by_id.Options(cluster=stand.url), Place("j", "/", "/", "/")).find_job(
            "tiny-1"
        )
    )


def test_a_thousand_jobs_are_one_list(stand, adapter) -> None:
    stand.answers["/api/jobs/"] = [
        RECORDING["succeeded"]
        | {"submission_id": f"tiny-{n}", "metadata": {"herorun_instance": f"tiny-{n}"}}
        for n in range(1, 1001)
    ]
    answers = adapter().find_all({f"tiny-{n}": LONG_AGO for n in range(1, 1001)})
    assert len(answers) == 1000 and all(isinstance(each, Found) for each in answers.values())
    assert stand.requests == ["GET /api/jobs/"]


def test_a_log_that_is_lost_with_its_node_leaves_rays_last_words(stand, adapter) -> None:
    stand.answers["/api/jobs/tiny-1"] = RECORDING["failed"]
    stand.answers["/api/v0/logs/file"] = (500, "Given node id is not available")
    assert adapter().tail("tiny-1", 1) == "a|"
    stand.answers["/api/jobs/tiny-1"] = RECORDING["succeeded"] | {
        "status": "RUNNING",
        "message": "Job is running.",
    }
    with pytest.raises(CouldNotLook, match="not available"):
        adapter().tail("tiny-1", 1)


def test_a_pending_job_has_no_log_and_says_what_it_waits_for(stand, adapter) -> None:
    stand.answers["/api/jobs/tiny-1"] = RECORDING["pending"]
    with pytest.raises(FileNotFoundError):
        adapter().tail("tiny-1", 5)
    load = {"resourceDemand": [[{"GPU": 8.0}, 1]], "nodeTypes": [[{"CPU": 4.0}, 2]]}
    stand.answers["/api/cluster_status"] = {"data": {"clusterStatus": {"loadMetricsReport": load}}}
    search = adapter().find("tiny-1", LONG_AGO)
    assert isinstance(search, Found) and mentions(search.job.reason, "8 GPU", "satisfies")


def test_what_ray_refuses_is_wrong_use_and_what_it_could_not_do_is_not(
    stand, adapter, tmp_path
) -> None:
    submission = Submission("tiny-1", ("true",), ".", {}, ())
    for status, kind in ((400, WrongUse), (500, CouldNotLook)):
        stand.answers["/api/jobs/"] = (
            status,
            "Traceback:\nValueError: metadata values must be strings\n",
        )
        with pytest.raises(kind, match="metadata values"):
            adapter().submit(submission, str(tmp_path), "")


def test_the_printed_request_is_what_is_sent(stand, adapter, tmp_path) -> None:
    submission = Submission("tiny-1", ("true",), ".", {}, ())
    text = adapter().request(submission, str(tmp_path), "")
    assert text.startswith(f"POST {stand.url}/api/jobs/\n") and stand.requests == []
    assert json.loads(text.splitlines()[1])["submission_id"] == "tiny-1"
    with pytest.raises(HerorunError, match="HF_TOKEN"):
        adapter().request(
            Submission("tiny-1", ("true",), ".", {}, ("HF_TOKEN",)), str(tmp_path), ""
        )


@pytest.mark.parametrize("code", ["shared", "upload"])
def test_a_preflight_shows_the_request_before_there_is_a_code_folder(adapter, code) -> None:
    text = adapter(code=code).request(
        Submission("tiny-1", ("true",), ".", {}, ()), "<code>", "<admission.json>"
    )
    assert ("cd '<code>'" in text) == (code == "shared")
    assert ("_ray_pkg_<digest>" in text) == (code == "upload")
