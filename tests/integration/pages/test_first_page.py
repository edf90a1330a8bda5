"""The page on which a conversation begins shows what this person may read and has asked, and nothing of anybody else's."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from agent.conversations.first_page import FirstPage, build_start_page
from agent.events import StopReason
from agent.models import Message, MessageRole, Session
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from tests.factories import allow, make_document
from tests.integration.pages.house import House, principal_of

LONG = "It takes one minute at most, and nobody has to be asked. " * 40


def document(title: str, *headings: str) -> str:
    """A text whose parts are long enough to be passages of their own."""
    return "\n\n".join([f"# {title}", LONG, *(f"## {heading}\n\n{LONG}" for heading in headings)])


GUIDE = document("Guide to pods", "Guide to pods, 2026", "2.1 Rolling back", "2.2 How to go on")
FAQ = document("Answers", "Before", "How long does a rollback take?")
PLAN = document("Secret plan", "When is the merger?")
HANDBOOK = f"# 员工手册\n\n{'公司员工应遵守本手册的规定。' * 60}\n\n## 第二章 如何申请年假\n\n{'每位员工每年有十天年假。' * 60}\n"


def page_of(person: User, language: str = "en") -> FirstPage:
    return build_start_page(principal_of(person), person, language)


def titles(page: FirstPage) -> set[str]:
    return {item.title for item in page.recent}


def test_questions_are_made_of_what_the_person_may_read_in_their_language(house: House) -> None:
    make_document(house.folder, "guide.md", GUIDE, ingested=True)
    make_document(house.folder, "faq.md", FAQ, ingested=True)
    make_document(house.folder, "notes.md", "# Notes\n\nThere are no parts in this short text.", ingested=True)
    make_document(house.folder, "handbook.md", HANDBOOK, ingested=True)
    make_document(house.sibling, "plan.md", PLAN, ingested=True)
    asked = (
        "How long does a rollback take?",
        "How do I go on?",
        "What does “Notes” say?",
    )
    assert sorted(page_of(house.reader).suggestions) == sorted(asked)
    assert page_of(house.reader).suggestions[-1] == asked[-1], "what headings ask comes first"
    assert titles(page_of(house.reader)) == {"Guide to pods", "Answers", "Notes", "员工手册"}
    assert set(page_of(house.keeper).suggestions) == set(asked)
    assert page_of(house.reader, "zh-hans").suggestions == ("如何申请年假？",)
    assert set(page_of(house.stranger).suggestions) == set()
    assert titles(page_of(house.stranger)) == set()
    allow(house.stranger, house.sibling)
    assert set(page_of(house.stranger).suggestions) == {"When is the merger?"}
    revoke_rights(None, [Right.VIEW], house.sibling, of=house.stranger)
    assert set(page_of(house.stranger).suggestions) == set()


def answered(person: User, question: str, *, stop_reason: str = StopReason.OK, days: int = 0, **of: bool) -> None:
    session = Session.objects.create(user=person, title=question, **of)
    asked = Message.objects.create(session=session, role=MessageRole.USER, content=question)
    row = Message.objects.create(
        session=session, parent=asked, role=MessageRole.ASSISTANT, content="Yes.", stop_reason=stop_reason
    )
    Message.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=days))


def test_the_own_week_is_what_was_answered_in_it(house: House) -> None:
    answered(house.reader, "this week?", days=6)
    answered(house.reader, "today?")
    answered(house.reader, "today?")
    answered(house.reader, "long ago?", days=8)
    answered(house.reader, "without an answer?", stop_reason=StopReason.NO_EVIDENCE)
    answered(house.reader, "put away?", is_archived=True)
    answered(house.keeper, "somebody else's?")
    assert page_of(house.reader).again == ("today?", "this week?")
    assert page_of(house.stranger).again == ()
