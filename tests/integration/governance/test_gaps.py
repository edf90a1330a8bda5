"""Questions without a good answer: which list has them, who reads them, and that nobody is found out by them."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from agent.events import StopReason
from agent.models import AnswerFault, Citation, Message, MessageRole, PrivacySettings, Rating, Session
from agent.oversight.gaps import Gap, Signal, list_gaps_for_keeper, list_misranked_topics, list_unanswered_topics
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, principal_of, staff, text_of

pytestmark = pytest.mark.django_db
NOTHING = StopReason.NO_EVIDENCE
PARKING = ("Where do I park my bicycle?", "Where do I park the bicycle?", "Where do I park a bicycle?")


def answered(user: User, question: str, stop_reason: str = NOTHING, *, minutes_ago: int = 0, **fields: Any) -> Message:
    """An answer with its question before it, in a conversation of its own."""
    session = Session.objects.create(user=user)
    asked = Message.objects.create(session=session, role=MessageRole.USER, content=question)
    answer = Message.objects.create(
        session=session, parent=asked, role=MessageRole.ASSISTANT, stop_reason=stop_reason, **fields
    )
    Message.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(minutes=minutes_ago))
    return answer


def cited(answer: Message) -> Message:
    ids = {name: uuid4() for name in ("knowledge_base_id", "document_id", "version_id", "chunk_id")}
    Citation.objects.create(message=answer, number=1, evidence_id="e", start=0, end=1, score=1, text_hash="", **ids)
    return answer


def list_every_question() -> None:
    PrivacySettings.objects.create(pk=1, lists_every_question=True)


def words(gaps: list[Gap]) -> set[str]:
    return {gap.question for gap in gaps}


def test_a_question_is_listed_when_it_is_shared_or_three_people_asked_it(overseer: User) -> None:
    anna, ben, cem = (make_user(name) for name in ("anna", "ben", "cem"))
    for _ in range(3):  # one person, however often
        answered(anna, PARKING[0])
    answered(ben, PARKING[1])
    own = answered(ben, "食堂几点开门？")
    found = list_unanswered_topics(30)
    assert (words(found.shown), found.withheld) == (set(), 2)
    page = text_of(client_of(overseer).get(reverse("gaps")))
    assert "2 more topics are hidden" in page
    assert "bicycle" not in page
    assert not Entry.objects.filter(action=Action.QUESTIONS_READ).exists(), "nothing was read"

    answered(cem, PARKING[2])
    client_of(ben).post(reverse("feedback", args=[own.session_id, own.pk]), {"is_shown_to_keepers": "on"})
    found = list_unanswered_topics(30)
    assert (words(found.shown), found.withheld) == ({PARKING[2], "食堂几点开门？"}, 0)
    page = text_of(client_of(overseer).get(reverse("gaps")))
    assert {name for name in ("anna", "ben", "cem") if name in page} == set()
    entry = Entry.objects.get(action=Action.QUESTIONS_READ)
    assert (entry.actor_name, len(entry.detail["answers"])) == ("olga", 2)
    assert "bicycle" not in str(entry.detail)


def test_sharing_can_be_taken_back() -> None:
    anna = make_user("anna")
    answer = answered(anna, PARKING[0])
    url = reverse("feedback", args=[answer.session_id, answer.pk])
    client_of(anna).post(url, {"is_shown_to_keepers": "on"})
    assert len(list_unanswered_topics(30).shown) == 1
    client_of(anna).post(url, {})
    assert list_unanswered_topics(30).shown == []


def test_the_setting_lists_every_question_of_the_period() -> None:
    list_every_question()
    anna, ben = make_user("anna"), make_user("ben")
    answered(anna, PARKING[0])
    answered(ben, PARKING[1], StopReason.OK, state={"output": {"kind": "passages", "is_declined": True}})
    answered(anna, "How long is leave?", StopReason.OK)
    answered(anna, "An old question about fax machines", minutes_ago=40 * 24 * 60)
    found = list_unanswered_topics(30)
    assert [(gap.count, len(gap.people), gap.declined) for gap in found.shown] == [(2, 2, 1)]
    assert found.withheld == 0


LEAVE, OTHER_WORDS = "How many days of leave are there?", "How many leave days are there in a year?"


@pytest.mark.parametrize(
    ("first", "then", "signals"),
    [
        ({"rating": Rating.NOT_HELPFUL}, None, {Signal.RATED_DOWN}),
        ({"rating": Rating.NOT_HELPFUL, "fault": AnswerFault.OUTDATED}, None, set()),
        ({"opened_lower": True}, None, {Signal.OPENED_LOWER}),
        ({}, (OTHER_WORDS, 6), {Signal.REPHRASED}),
        ({}, ("Who repairs the printer?", 6), set()),  # another question
        ({}, (OTHER_WORDS, 3), set()),  # seven minutes later
    ],
)
def test_signs_of_a_document_that_was_not_shown_first(
    first: dict[str, Any], then: tuple[str, int] | None, signals: set[Signal]
) -> None:
    list_every_question()
    anna = make_user("anna")
    cited(answered(anna, LEAVE, minutes_ago=10, **{"stop_reason": StopReason.OK, **first}))
    if then:
        answered(anna, then[0], StopReason.OK, minutes_ago=then[1])
    assert {signal for gap in list_misranked_topics(30).shown for signal in gap.signals} == signals
    assert list_unanswered_topics(30).shown == [], "it is in one list"


def test_another_persons_words_are_no_rephrasing_and_two_failures_are_none() -> None:
    list_every_question()
    anna, ben = make_user("anna"), make_user("ben")
    answered(anna, LEAVE, minutes_ago=3)
    answered(ben, OTHER_WORDS, StopReason.OK, minutes_ago=2)
    answered(anna, OTHER_WORDS, minutes_ago=1)
    assert list_misranked_topics(30).shown == []
    assert [gap.count for gap in list_unanswered_topics(30).shown] == [2]


def test_opening_a_lower_source_is_stored_for_ones_own_answer_only() -> None:
    anna = make_user("anna")
    answer = answered(anna, LEAVE, StopReason.OK)
    url = reverse("source-opened", args=[answer.session_id, answer.pk])
    assert client_of(make_user("ben")).post(url).status_code == 404
    answer.refresh_from_db()
    assert not answer.opened_lower
    assert client_of(anna).post(url).status_code == 204
    answer.refresh_from_db()
    assert answer.opened_lower


def test_a_keeper_reads_what_readers_of_their_folders_did_not_find(world: World) -> None:
    list_every_question()
    outside = make_user("outside")
    answered(world.anna, PARKING[0])  # may read Rules
    answered(outside, "食堂几点开门？")  # reads nothing

    def read() -> dict[str, set[str]]:
        people = {"mia": world.mia, "boss": world.boss, "anna": world.anna, "root": world.root}
        found = {name: words(list_gaps_for_keeper(principal_of(user), 30)) for name, user in people.items()}
        return {name: questions for name, questions in found.items() if questions}

    assert read() == {"mia": {PARKING[0]}, "boss": {PARKING[0]}}
    allow(outside, world.pay)
    assert read() == {"mia": {PARKING[0]}, "boss": {PARKING[0], "食堂几点开门？"}}
    page = text_of(client_of(world.mia).get(reverse("kept-questions")))
    assert PARKING[0] in page
    assert "anna" not in page
    entry = Entry.objects.get(action=Action.QUESTIONS_READ)
    assert (entry.actor_name, entry.detail["as"], len(entry.detail["answers"])) == ("mia", "keeper", 1)
    revoke_rights(None, [Right.MANAGE], world.rules, of=world.mia)
    assert set(read()) == {"boss"}


def test_whoever_may_not_oversee_reads_no_questions() -> None:
    list_every_question()
    answered(make_user("anna"), PARKING[0])
    assert client_of(staff("sam")).get(reverse("gaps")).status_code == 403
    assert not Entry.objects.filter(action=Action.QUESTIONS_READ).exists()


# --- who may read what people say about their answers, how the list is narrowed, and what the audit log has of it ---
QUESTION, ANSWER = "How many days of leave are there?", "There are 30 days of leave."


def rated(user: User, rating: str, comment: str = "", *, days_ago: int = 0) -> Message:
    session = Session.objects.create(user=user)
    asked = Message.objects.create(session=session, role=MessageRole.USER, content=QUESTION)
    answer = Message.objects.create(
        session=session,
        parent=asked,
        role=MessageRole.ASSISTANT,
        content=ANSWER,
        stop_reason=StopReason.OK,
        rating=rating,
        comment=comment,
    )
    Message.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return answer


@pytest.fixture
def ratings() -> dict[str, Message]:
    anna, ben = make_user("anna"), make_user("ben")
    return {
        "praise": rated(anna, Rating.HELPFUL),
        "old": rated(anna, Rating.NOT_HELPFUL, "An old limit.", days_ago=40),
        "wrong": rated(ben, Rating.NOT_HELPFUL, "It is 31 days <b>now</b>."),
        "silent": rated(ben, ""),
    }


def listed(viewer: User, **filters: Any) -> set[Any]:
    return {row.pk for row in client_of(viewer).get(reverse("ratings"), filters).context["lines"]}


def test_the_list_is_narrowed(ratings: dict[str, Message], overseer: User) -> None:
    rows: list[tuple[dict[str, str], set[str]]] = [
        ({}, {"praise", "old", "wrong"}),
        ({"rating": "not_helpful", "user": "ben"}, {"wrong"}),
        ({"days": "30"}, {"praise", "wrong"}),
        ({"comment": "1"}, {"old", "wrong"}),
        ({"rating": "superb", "days": "x", "comment": "no", "page": "z"}, {"praise", "old", "wrong"}),
    ]
    for filters, expected in rows:
        assert listed(overseer, **filters) == {ratings[name].pk for name in expected}, filters


def test_it_tells_words_and_counts_and_neither_question_nor_answer(ratings: dict[str, Message], overseer: User) -> None:
    page = client_of(overseer).get(reverse("ratings"))
    text = text_of(page)
    assert "1 helpful, 2 not helpful" in text
    assert "It is 31 days &lt;b&gt;now&lt;/b&gt;." in text
    assert QUESTION not in text
    assert ANSWER not in text
    assert reverse("replay", args=[ratings["wrong"].pk]) in page.content.decode()


def test_reading_peoples_words_is_recorded_and_a_list_without_any_is_not(
    ratings: dict[str, Message], overseer: User
) -> None:
    listed(overseer, rating="helpful")
    assert not Entry.objects.filter(action=Action.RATINGS_READ).exists()
    listed(overseer)
    entry = Entry.objects.get(action=Action.RATINGS_READ)
    assert entry.actor_name == "olga"
    assert set(entry.detail["answers"]) == {str(ratings["old"].pk), str(ratings["wrong"].pk)}
    assert "limit" not in str(entry.detail)
