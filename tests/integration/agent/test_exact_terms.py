"""Versions, codes, addresses and clause numbers are found as they stand; a follow-up and a wish for another language go on from them."""

import pytest
from django.utils.translation import override

from agent import texts
from agent.conversations.sessions import create_session
from agent.events import AgentQuery, StopReason
from agent.models import Session
from authz.principal import Principal
from tests.factories import make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored, words
from tests.integration.agent.modelled import SEARCH, THIRTY, judges, modelled, of, sent
from tests.modelserver import says

pytestmark = pytest.mark.django_db

NOTES = """# Gatekeeper release notes

## v2.3.1

Fixed: the badge reader no longer reports error E-1407 after a power cut. At most 5,000 badges.

## v2.3.0

Added: visitors may be registered by mail to gate-admin@kontor.example. At most 3,500 badges.
"""
REQUESTS = "\n\n".join(
    f"## PPR-{number}\n\nThe request PPR-{number} asks for {what}. It was filed by the line team. Cost: {cost} euros."
    for number, what, cost in (
        (1044, "another seam at the left door", 4098), (1777, "a new torque for the hinge", 2336), (9078, "a wiring loom", 7966),
        (9088, "a lower speed of the belt", 7887), (9807, "another glue for the badge", 1273), (2087, "a fan above the oven", 6706),
        (9087, "a wider rinse basin", 3350),
    )
)  # fmt: skip
AGREEMENT = """# Service agreement

3 Liability

- 3.1 The provider is liable for loss of goods up to 35,000 euros a year.
- 3.2 Damage by frost is never covered.

4 Termination

- 4.1 Either party may end this agreement, see clause 3.1 for what remains due.
"""


def library() -> Principal:
    base = make_base("Kontor")
    for name, text in (("notes.md", NOTES), ("requests.md", f"# Requests\n\n{REQUESTS}"), ("agreement.md", AGREEMENT)):
        make_document(base, name, text, ingested=True)
    return Principal.of(make_reader(base))


def said_of(reader: Principal, session: Session, question: str) -> tuple[str, str, str]:
    """Reason, best sentence, and the question as it was understood."""
    events = asked(reader, question, session)
    best = words(events).splitlines()[1]
    return stored(events).stop_reason, best, of(events, AgentQuery)[-1].content


def test_a_rare_exact_name_is_found_and_a_follow_up_about_another_code_is_answered_of_that_one_alone() -> None:
    reader = library()
    for question, expected in (
        ("What changed in v2.3.1?", "badge"),
        ("E-1407", "badge reader"),
        ("gate-admin@kontor.example", "visitors may be registered"),
        ("PPR 9087", "PPR-9087 asks for a wider rinse basin"),
        ("What does clause 3.1 say?", "35,000 euros"),
        ("第3.2条", "frost"),
    ):
        said = words(asked(reader, question))
        assert expected in said, (question, said)
    assert "v9.9.9" not in words(events := asked(reader, "What changed in v9.9.9?"))
    assert stored(events).stop_reason == StopReason.NO_EVIDENCE
    session = create_session(reader)
    assert "Cost: 3350 euros." in said_of(reader, session, "What is the cost of PPR 9087?")[1]
    understood = "What is the cost of PPR-1777?"
    reason, best, whole = said_of(reader, session, "And PPR-1777?")
    assert (reason, whole) == ("ok", understood)
    assert "Cost: 2336 euros." in best
    assert "9087" not in best


def test_without_a_model_the_last_question_is_answered_in_the_words_of_the_other_language(handbook: Handbook) -> None:
    reader = Principal.of(make_reader(handbook[0]))
    session = create_session(reader)
    before = said_of(reader, session, LEAVE)
    events = asked(reader, "用中文说", session)
    assert (stored(events).stop_reason, words(events).splitlines()[1], of(events, AgentQuery)[-1].content) == before
    with override("zh-hans"):
        assert stored(events).notice == str(texts.QUOTED_AS_WRITTEN)


def test_a_model_writes_the_last_answer_in_the_language_that_is_wanted(handbook: Handbook) -> None:
    reader = Principal.of(make_reader(handbook[0]))
    session = create_session(reader)
    chinese, judged = (
        "员工每个日历年有 30 天年假 [1]。",
        judges("supported", quote="30 days of annual leave", sentences=[1]),
    )
    with modelled(SEARCH, says(THIRTY), SEARCH, says(chinese), judged) as server:
        asked(reader, LEAVE, session)
        answer = words(asked(reader, "in Chinese please", session))
    assert answer == chinese.replace(" [1]。", "。[1]")
    assert LEAVE in sent(server.requests[2])
    assert "请用中文" in sent(server.requests[2])


def test_a_wish_for_a_language_is_no_question_where_nothing_was_asked() -> None:
    events = asked(make_user(), "In English please")
    assert stored(events).stop_reason == StopReason.NEED_CLARIFY


FLEET = """# Car fleet

| Site | Cars | Result |
|---|---|---|
| Rotterdam | 12 | -2,150 |
| Hamburg | 4 | -13,251 |
| Antwerp | 9 | 1,775 |
| Lille | 7 | 804 |
| Bremen | 3 | -96 |
"""


def test_rows_that_the_question_does_not_name_are_shown_together() -> None:
    """Similarity does not know which value is the worst."""
    base = make_base("Fleet")
    make_document(base, "fleet.md", FLEET, ingested=True)
    reader = Principal.of(make_reader(base))
    every = [line.split(" | ")[0][2:] for line in FLEET.splitlines()[4:]]
    worst, named = (
        words(asked(reader, f"Which site had {what} in the car fleet?"))
        for what in ("the worst result", "12 cars, Rotterdam")
    )
    assert [site for site in every if site in worst] == every
    assert "Rotterdam" in named
    assert "Lille" not in named
