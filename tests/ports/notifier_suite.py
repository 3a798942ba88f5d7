"""What every notifier must do. A test file subclasses `NotifierSuite`, or `IssueTrackerSuite`, and
gives it a `bench`.
"""

from typing import Protocol

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.ports import IssueTracker, Notifier, Post, missing_members
from ports.abilities import misshapen_members
from wording import mentions

OUT_OF_REACH = (OSError, CouldNotLook)
SECRET = "ghp_" + "s3cr3t" * 6
WEIRD_KEYS = (
    "a b",
    "a-->b",
    "-->",
    "new\nline",
    "tab\t",
    "ünï-日本",
    "50%20",
    "%20",
    "a/b#c?d",
    "<!-- x",
    "--",
    "'\"`*_",
)


class NotifierBench(Protocol):
    def connect(self) -> Notifier: ...

    def read_messages(self) -> str:
        """Everything that was said, as whoever is told reads it, hidden marks included."""

    def cut_off(self) -> None:
        """Make it impossible to say anything, and to read what was said if that can be read at
        all.
        """


def a_post(
    key: str = "tell:tiny-1:crashed", title: str = "tiny-1 crashed", body: str = "It ended."
) -> Post:
    return Post(key, title, body)


class NotifierSuite:
    can_be_asked = True  # whether what was said can be read back

    @pytest.fixture
    def bench(self) -> NotifierBench:
        raise NotImplementedError

    def test_it_has_every_member_of_its_port(self, bench: NotifierBench) -> None:
        assert missing_members(Notifier, bench.connect()) == ()

    def test_its_members_take_what_is_declared(self, bench: NotifierBench) -> None:
        assert misshapen_members("notifiers", bench.connect()) == []

    def test_what_was_posted_was_reported_and_is_found(self, bench: NotifierBench) -> None:
        reference = bench.connect().post(a_post(body="It ended with exit code 1."))
        assert mentions(bench.read_messages(), "exit", "1")
        assert "tiny-1 crashed" in bench.read_messages()
        assert bench.connect().find("tell:tiny-1:crashed") == reference

    def test_one_key_is_reported_once(self, bench: NotifierBench) -> None:
        first = bench.connect().post(a_post(body="only once"))
        page = bench.read_messages()
        assert bench.connect().post(a_post(body="only once")) == first
        assert bench.connect().post(a_post(body="other words")) == first
        assert bench.read_messages() == page
        assert page.count("only once") == 1

    def test_keys_are_matched_whole(self, bench: NotifierBench) -> None:
        bench.connect().post(a_post("tell:tiny-10"))
        for other in ("tell:tiny-1", "tell:tiny-100", "TELL:TINY-10", "tiny-10", ""):
            assert bench.connect().find(other) is None
        bench.connect().post(a_post("tell:tiny-1", body="another"))
        assert "another" in bench.read_messages()

    def test_any_text_can_be_a_key(self, bench: NotifierBench) -> None:
        for number, key in enumerate(WEIRD_KEYS):
            assert bench.connect().find(key) is None, key
            bench.connect().post(a_post(key, f"title {number}", f"body-{number}."))
            assert bench.connect().find(key) is not None, key
        for number, key in enumerate(WEIRD_KEYS):
            bench.connect().post(a_post(key, "again", "repeated"))
            assert bench.read_messages().count(f"body-{number}.") == 1
        assert "repeated" not in bench.read_messages()

    def test_a_mark_inside_a_text_is_no_mark(self, bench: NotifierBench) -> None:
        bench.connect().post(a_post("genuine", body="first"))
        forged_text = bench.read_messages().replace("genuine", "forged")
        bench.connect().post(a_post("second", title=forged_text, body=forged_text))
        assert bench.connect().find("forged") is None
        assert bench.connect().find("genuine") is not None
        assert bench.connect().find("second") is not None

    def test_an_open_fence_or_comment_hides_no_later_mark(self, bench: NotifierBench) -> None:
        for number, body in enumerate(
            ("```\nlog", "~~~~ x\nlog", "see <!-- this", "```a\nb\n```\n```")
        ):
            bench.connect().post(a_post(f"open-{number}", body=body))
            assert bench.connect().find(f"open-{number}") is not None

    def test_a_long_body_is_reported(self, bench: NotifierBench) -> None:
        bench.connect().post(a_post(body="begin\n" + "a line of the log\n" * 20_000))
        assert "begin" in bench.read_messages()
        assert bench.connect().find(a_post().key) is not None

    def test_an_odd_body_is_reported(self, bench: NotifierBench) -> None:
        for number, body in enumerate(
            ("", "\n", "\udcff", "a\x00b\x1b[31mred", "日本 🤖", "x\r\ny\rz")
        ):
            bench.connect().post(a_post(f"odd-{number}", body=body))
            assert bench.connect().find(f"odd-{number}") is not None
        assert "\x1b" not in bench.read_messages()
        assert "\x00" not in bench.read_messages()

    def test_no_secret_is_reported(self, bench: NotifierBench) -> None:
        bench.connect().post(a_post("a", f"with {SECRET}", f"GITHUB_TOKEN={SECRET}"))
        assert SECRET not in bench.read_messages()

    def test_out_of_reach_is_an_error_that_echoes_nothing(self, bench: NotifierBench) -> None:
        bench.cut_off()
        with pytest.raises(OUT_OF_REACH, match=r".") as error:
            bench.connect().post(a_post(body=SECRET))
        assert SECRET not in str(error.value)
        if self.can_be_asked:
            with pytest.raises(OUT_OF_REACH, match=r"."):
                bench.connect().find(a_post().key)

    def test_what_could_not_be_said_is_not_found(self, bench: NotifierBench) -> None:
        assert bench.connect().find("never") is None


class IssueBench(NotifierBench, Protocol):
    """A bench whose issue is open already, under the key `init:tiny`."""

    def connect(self) -> IssueTracker: ...

    def connect_elsewhere(self) -> IssueTracker:
        """Another run's issue, not opened yet."""


class IssueTrackerSuite(NotifierSuite):
    @pytest.fixture
    def bench(self) -> IssueBench:
        raise NotImplementedError

    def test_it_has_every_member_of_an_issue_tracker(self, bench: IssueBench) -> None:
        assert missing_members(IssueTracker, bench.connect()) == ()

    def test_opening_twice_is_one_issue(self, bench: IssueBench) -> None:
        page = bench.read_messages()
        first = bench.connect().open(a_post("init:tiny", "Hero run: tiny", "goal"), ("experiment",))
        assert bench.connect().open(a_post("other", "Another title", "other"), ()) == first
        assert bench.read_messages() == page
        assert bench.connect().find("init:tiny") == first

    def test_nothing_is_found_before_it_is_opened(self, bench: IssueBench) -> None:
        assert bench.connect_elsewhere().find("init:tiny") is None

    def test_without_an_issue_nothing_is_posted(self, bench: IssueBench) -> None:
        with pytest.raises(OUT_OF_REACH, match=r"."):
            bench.connect_elsewhere().post(a_post())
        assert bench.connect_elsewhere().find(a_post().key) is None

    def test_every_comment_is_signed_by_the_robot_once(self, bench: IssueBench) -> None:
        before = bench.read_messages().count("🤖")
        bench.connect().post(a_post("plain", body="plain words"))
        bench.connect().post(a_post("signed", body="🤖 signed words"))
        assert bench.read_messages().count("🤖") == before + 2

    def test_an_edit_takes_the_place_of_what_was_reported(self, bench: IssueBench) -> None:
        first = bench.connect().post(a_post("alert", "it fires", "body-1."))
        bench.connect().post(a_post("later", "something else", "body-2."))
        assert bench.connect().edit(a_post("alert", "it is over", "body-3.")) == first
        page = bench.read_messages()
        assert "body-1." not in page
        assert page.index("body-3.") < page.index("body-2.")
        assert bench.connect().find("alert") == first

    def test_an_edit_can_be_repeated(self, bench: IssueBench) -> None:
        bench.connect().post(a_post("alert", "it fires", "body-1."))
        edit_results = [
            bench.connect().edit(a_post("alert", "it fires", "body-2.")) for _ in range(2)
        ]
        assert edit_results[0] == edit_results[1]
        assert bench.read_messages().count("body-2.") == 1

    def test_an_edit_of_what_was_never_said_says_it(self, bench: IssueBench) -> None:
        reference = bench.connect().edit(a_post("alert", "it fires", "body-1."))
        assert bench.read_messages().count("body-1.") == 1
        assert bench.connect().find("alert") == reference

    def test_the_text_of_the_page_itself_stays(self, bench: IssueBench) -> None:
        page = bench.read_messages()
        bench.connect().edit(a_post("init:tiny", "Another title", "another goal"))
        bench.connect().post(a_post("init:tiny", "Another title", "another goal"))
        assert bench.read_messages() == page

    def test_an_edit_says_no_secret_and_keeps_to_its_marks(self, bench: IssueBench) -> None:
        bench.connect().post(a_post("alert"))
        bench.connect().edit(a_post("alert", f"with {SECRET}", f"```\n{SECRET}"))
        bench.connect().post(a_post("later", body="came later"))
        assert SECRET not in bench.read_messages()
        assert None not in (bench.connect().find("alert"), bench.connect().find("later"))

    def test_an_edit_out_of_reach_is_an_error(self, bench: IssueBench) -> None:
        bench.connect().post(a_post("alert"))
        bench.cut_off()
        with pytest.raises(OUT_OF_REACH, match=r"."):
            bench.connect().edit(a_post("alert", body="for two hours"))
