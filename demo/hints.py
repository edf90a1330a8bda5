"""Hints on a demo's pages: who can sign in, and what to ask; none where the demo company was not seeded."""

from collections.abc import Sequence
from functools import cache

from django.contrib.auth.models import User
from django.utils.translation import get_language, gettext

from authz.principal import Principal
from authz.views import LoginHint
from business.models import DataSource
from demo.business_data import QUESTIONS
from demo.company import ADMINISTRATOR, BilingualText, Company, load_company

MOST_QUESTIONS = 4  # on the empty chat page


def list_login_hints() -> Sequence[LoginHint]:
    """Return every person of the demo company who can sign in, and its administrator, in the language of the page."""
    people = _read_company().people
    seeded = set(
        User.objects.filter(username__in=[ADMINISTRATOR, *(person.username for person in people)]).values_list(
            "username", flat=True
        )
    )
    hints = [
        LoginHint(person.username, _read_company().password, _select_language_text(person.role))
        for person in people
        if person.username in seeded
    ]
    if hints and ADMINISTRATOR in seeded:
        hints.append(
            LoginHint(ADMINISTRATOR, _read_company().password, gettext("Administrator: governs, and reads no document"))
        )
    return hints


def list_sample_questions(principal: Principal) -> Sequence[str]:
    """Return questions, in the page's language, that this employee of the demo company gets answered; one about
    business data for those who may ask it.
    """
    company = _read_company()
    person = next((person for person in company.people if person.username == principal.username), None)
    if person is None:
        return []
    language = "zh-hans" if _is_chinese() else "en"
    readable = [
        question.ask
        for question in company.questions
        if question.language == language and principal.username in question.readers
    ]
    counted = [_select_language_text(QUESTIONS[group]) for group in person.groups if group in QUESTIONS]
    if not DataSource.objects.visible_to(principal).exists():
        counted = []
    return [*readable[: MOST_QUESTIONS - 1], *counted[:1]]


@cache
def _read_company() -> Company:
    return load_company()


def _select_language_text(text: BilingualText) -> str:
    return text.zh if _is_chinese() else text.en


def _is_chinese() -> bool:
    return (get_language() or "").startswith("zh")
