"""What a client does when the server has no room: it waits as it is told, and asks again what was not taken."""

import pytest

from copilot_client.errors import Unreachable
from copilot_client.reconnect import Again, Backoff, Course, check_response


def refusal(status: int, **headers: str) -> Again:
    with pytest.raises(Again) as refused:
        check_response(status, {"detail": "later"}, {name.replace("_", "-"): value for name, value in headers.items()})
    return refused.value


@pytest.mark.parametrize("status", [429, 503])
def test_a_question_that_was_not_taken_is_asked_again_when_the_server_says(status: int) -> None:
    course = Course("session", backoff=Backoff(attempts=2))
    refused = refusal(status, Retry_After="7")
    for _attempt in range(2):
        assert 7 <= course.after_failure(refused) <= 14
        assert not course.message_id, "there is nothing to come back to: it is asked again"
    with pytest.raises(Unreachable):
        course.after_failure(refused)


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_question_that_may_have_been_taken_is_not_asked_twice(status: int) -> None:
    """Without Retry-After, as a proxy answers in the server's place."""
    with pytest.raises(Unreachable, match="no answer began"):
        Course("session").after_failure(refusal(status))


def test_an_odd_header_is_none() -> None:
    assert refusal(503, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT").retry_after_s == 0
    assert refusal(502, Retry_After="3").retry_after_s == 0
