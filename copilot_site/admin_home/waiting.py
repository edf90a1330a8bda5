"""Work that waits for a person in the administration, each line with its number and list."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from agent.models import Rating
from agent.oversight.gaps import USUAL_DAYS, count_unanswered_questions
from agent.oversight.replay import list_all_answers
from agent.oversight.statistics import first_day_of_period, list_answers_since
from agent.usage import count_nearly_used_budgets
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows, may_oversee
from knowledge.documents.search import UNAPPROVED
from knowledge.governance.health import list_failed_versions, list_stalled_versions
from knowledge.models import Document
from knowledge.services.access_requests import list_waiting_requests
from knowledge.sources.services import count_failing_sources

WEEK = 7  # days


@dataclass(frozen=True)
class Waiting:
    """One line: how many of what, and the address of their list."""

    count: int
    what: str
    url: str


def list_waiting_work(user: AbstractBaseUser | AnonymousUser) -> list[Waiting]:
    """Return the waiting work, most urgent first; only what this person may see and decide."""
    principal = Principal.of(user)
    lines = [
        *_iterate_manager_work(principal),
        _count_failing_sources(principal, user),
        *(_iterate_overseer_work() if may_oversee(user) else ()),
    ]
    if isinstance(user, User) and user.has_perm("agent.view_unitbudget"):
        spent = count_nearly_used_budgets()
        message = ngettext(
            "unit has used 80 % of its month's language model budget, or more",
            "units have used 80 % of their month's language model budget, or more",
            spent,
        )
        lines.append((spent, message, reverse("admin:agent_unitbudget_changelist")))
    return [Waiting(count, what, url) for count, what, url in lines if count]


def _iterate_manager_work(principal: Principal) -> Iterator[tuple[int, str, str]]:
    asked = list_waiting_requests(principal).count()
    yield (
        asked,
        ngettext("access request is waiting for you", "access requests are waiting for you", asked),
        reverse("access-requests"),
    )
    failed, late = list_failed_versions(principal).count(), list_stalled_versions(principal).count()
    yield failed, ngettext("document could not be read", "documents could not be read", failed), reverse("ingestion")
    waits = ngettext(
        "document has waited more than an hour to be read", "documents have waited more than an hour to be read", late
    )
    yield late, waits, reverse("ingestion")
    today = timezone.localdate()
    due = filter_governed_rows(Document, principal).filter(trashed_at=None, review_on__lt=today).count()
    past = ngettext("document is past its review date", "documents are past their review date", due)
    yield due, past, f"{reverse('admin:knowledge_document_changelist')}?review_on__lt={today:%Y-%m-%d}"
    unapproved = (
        Document.objects.visible_to(principal).filter(Document.reach(principal, Right.MANAGE), **UNAPPROVED).count()
    )
    waits = ngettext("document waits for your approval", "documents wait for your approval", unapproved)
    yield unapproved, waits, f"{reverse('find')}?state=unapproved"


def _count_failing_sources(principal: Principal, user: AbstractBaseUser | AnonymousUser) -> tuple[int, str, str]:
    failing = count_failing_sources(principal, user)
    message = ngettext(
        "source of documents could not be read, or not all of it",
        "sources of documents could not be read, or not all of them",
        failing,
    )
    return failing, message, reverse("sources-of-documents")


def _iterate_overseer_work() -> Iterator[tuple[int, str, str]]:
    recent = list_answers_since(first_day_of_period(WEEK)).order_by().values("pk")
    unhelpful = list_all_answers().filter(rating=Rating.NOT_HELPFUL, pk__in=recent).count()
    rated = ngettext(
        "answer of this week was called not helpful", "answers of this week were called not helpful", unhelpful
    )
    yield unhelpful, rated, f"{reverse('ratings')}?rating={Rating.NOT_HELPFUL}&days={WEEK}"
    missing = count_unanswered_questions(USUAL_DAYS)
    asked = ngettext(
        "question of the last %(days)s days found no answer: write what is missing",
        "questions of the last %(days)s days found no answer: write what is missing",
        missing,
    )
    yield missing, asked % {"days": USUAL_DAYS}, f"{reverse('gaps')}?days={USUAL_DAYS}"
