"""What a demo shows on its pages: who can sign in, and what to ask. Nothing where the demo company was not seeded."""

from collections.abc import Sequence
from functools import cache

from django.contrib.auth.models import User
from django.utils.translation import get_language

from authz.principal import Principal
from authz.views import LoginHint
from demo.company import Company, load_company

MOST_QUESTIONS = 6  # on the empty chat page


def login_hints() -> Sequence[LoginHint]:
    """Every person of the demo company who can sign in, in the language of the page."""
    people = _company().people
    seeded = set(
        User.objects.filter(username__in=[person.username for person in people]).values_list("username", flat=True)
    )
    return [
        LoginHint(person.username, _company().password, person.role.zh if _is_chinese() else person.role.en)
        for person in people
        if person.username in seeded
    ]


def sample_questions(principal: Principal) -> Sequence[str]:
    """Questions in the language of the page for an employee of the demo company: some of which they may not find out."""
    company = _company()
    if principal.username not in {person.username for person in company.people}:
        return []
    language = "zh-hans" if _is_chinese() else "en"
    asked = [question for question in company.questions if question.language == language]
    readable = [question.ask for question in asked if principal.username in question.readers]
    hidden = [question.ask for question in asked if question.document and principal.username not in question.readers]
    return [*readable[: MOST_QUESTIONS - 1], *hidden[:1]]


@cache
def _company() -> Company:
    return load_company()


def _is_chinese() -> bool:
    return (get_language() or "").startswith("zh")
