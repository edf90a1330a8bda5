"""An answer comes in the language of whoever asks: one in another is asked for once more, and what comes then is shown and said."""

import pytest
from django.contrib.auth.models import User

from agent.attribution.answer_language import is_in_other_language
from agent.events import Reflection
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import THIRTY, judges, modelled, of, sent
from tests.modelserver import says

pytestmark = pytest.mark.django_db

ASKED = "员工每年有多少天年假？"
CHINESE = "员工每个日历年有 30 天年假 [1]。"
JUDGED = judges("supported", quote="30 days of annual leave", sentences=[1])
TOLD = "The language model did not answer in the language of the question."  # the reader's pages are English


def test_an_answer_in_another_language_is_asked_for_once_more(reader: User) -> None:
    with modelled(says(f"{THIRTY} {THIRTY}"), says(CHINESE), JUDGED) as server:
        events = asked(reader, ASKED)
    assert words(events) == CHINESE.replace(" [1]。", "。[1]")
    assert stored(events).notice == ""
    assert "请用中文" not in sent(server.requests[0])
    assert server.requests[1]["messages"][:2] == server.requests[0]["messages"], "what was sent stays"
    assert "请用中文" in sent(server.requests[1])


def test_what_comes_in_another_language_again_is_shown_and_said(reader: User) -> None:
    with modelled(says(THIRTY), says(THIRTY)):
        events = asked(reader, ASKED)
    assert words(events) == THIRTY.replace(" [1].", ".[1]")
    assert TOLD in [event.content for event in of(events, Reflection)]
    assert stored(events).notice == TOLD


@pytest.mark.parametrize(
    ("text", "language", "is_other"),
    [
        ("Employees have 30 days of annual leave.", "zh", True),
        ("员工有 30 天年假。", "en", True),
        ("社員には 30 日の年次休暇があります。", "zh", True),
        ("员工使用 Kubernetes Deployment 的 RollingUpdate 策略。", "zh", False),
        ("kubectl rollout undo deployment/web --to-revision=2", "zh", False),
        ("Zhang Wei (张伟)", "en", False),
    ],
)
def test_names_and_code_are_of_no_language(text: str, language: str, is_other: bool) -> None:
    assert is_in_other_language(text, language) is is_other
