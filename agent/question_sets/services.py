"""Change evaluation sets, and start and stop runs over them: for those who may oversee, and audited."""

from collections.abc import Iterable
from typing import NotRequired, TypedDict, Unpack
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import AgentProfile, Case, CaseResult, Message, QuestionSet, Rating, SetRun
from agent.oversight.replay import find_stored_question
from agent.privacy import record_conversation_view
from agent.profile_choice import list_text_lines as texts_in
from agent.question_sets.upload import MAX_CASES, UploadedQuestion
from agent.runs.start import check_question
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.governing import require_oversight
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.governance.parameters import find_user_by_name

Who = User | AnonymousUser  # refused without the right to oversee


class TypedQuestion(TypedDict):
    """A question as typed. answers, documents, forbidden: one per line."""

    question: str
    person: str
    is_answerable: bool | None
    answers: NotRequired[str]
    documents: NotRequired[str]
    forbidden: NotRequired[str]


def find_question_set(user: Who, set_id: UUID) -> QuestionSet:
    """Return a set. Raises PermissionDenied without the right to oversee, and NotFound."""
    require_oversight(user)
    found = QuestionSet.objects.filter(pk=set_id).first()
    if found is None:
        raise NotFound(_("There is no such evaluation set."))
    return found


@transaction.atomic
def create_question_set(user: Who, name: str) -> QuestionSet:
    """Create a set. Raises PermissionDenied, and InvalidInput for an empty, too long or duplicate name."""
    require_oversight(user)
    given = name.strip()
    if not given or len(given) > 80:
        raise InvalidInput(_("Give the set a name of at most 80 characters."))
    try:
        with transaction.atomic():
            made = QuestionSet.objects.create(name=given)
    except IntegrityError as error:
        raise InvalidInput(_("There is already a set with this name.")) from error
    _record_set_change(user, made, made=True)
    return made


@transaction.atomic
def delete_question_set(user: Who, set_id: UUID) -> None:
    """Delete a set with its runs. Raises PermissionDenied, NotFound."""
    found = find_question_set(user, set_id)
    _record_set_change(user, found, deleted=True)
    found.delete()


@transaction.atomic
def add_case(user: Who, set_id: UUID, **given: Unpack[TypedQuestion]) -> Case:
    """Add a question to a set. Raises PermissionDenied, NotFound, InvalidInput."""
    within = find_question_set(user, set_id)
    _require_case_room(within, 1)
    made = _fill_case(Case(question_set=within), given)
    _record_set_change(user, within, added=1)
    return made


@transaction.atomic
def change_case(user: Who, set_id: UUID, case_id: UUID, **given: Unpack[TypedQuestion]) -> Case:
    """Change a question; results of past runs stay as they were.

    Raises like `add_case`, and Conflict while a run of the set is under way.
    """
    within = find_question_set(user, set_id)
    case = find_case(within, case_id)
    _require_no_open_run(within)
    _fill_case(case, given)
    _record_set_change(user, within, changed=1, case=str(case.pk))
    return case


def find_case(within: QuestionSet, case_id: UUID) -> Case:
    """Return a question of a set. Raises NotFound."""
    found = within.cases.select_related("person").filter(pk=case_id).first()
    if found is None:
        raise NotFound(_("There is no such question in the set."))
    return found


def _fill_case(case: Case, given: TypedQuestion) -> Case:
    """Return the row with the typed values, saved. Raises InvalidInput."""
    case.question, case.person = check_question(given["question"]), find_user_by_name(given["person"])
    case.is_answerable = given["is_answerable"]
    case.answers = texts_in(given.get("answers", ""))
    case.documents = texts_in(given.get("documents", ""))
    case.forbidden = texts_in(given.get("forbidden", ""))
    case.save()
    return case


@transaction.atomic
def add_uploaded_questions(user: Who, set_id: UUID, lines: Iterable[UploadedQuestion], *, person: str) -> int:
    """Add the questions of a file and return their number. person: asked as, where a line names nobody.

    Raises like `add_case`, and then adds none.
    """
    within, given = find_question_set(user, set_id), list(lines)
    _require_case_room(within, len(given))
    people = {name: find_user_by_name(name) for name in {line.person or person for line in given}}
    Case.objects.bulk_create(
        Case(
            question_set=within,
            question=line.question,
            person=people[line.person or person],
            is_answerable=line.is_answerable,
            answers=line.answers,
            documents=line.documents,
            forbidden=line.forbidden,
        )
        for line in given
    )
    _record_set_change(user, within, added=len(given))
    return len(given)


@transaction.atomic
def add_answered_question(user: Who, set_id: UUID, message: Message) -> Case:
    """Add the question of a given answer, asked as its asker; one rated helpful is expected to be answered again.

    Raises PermissionDenied, NotFound, and Conflict for one already in the set.
    """
    within = find_question_set(user, set_id)
    _require_case_room(within, 1)
    if within.cases.filter(message=message).exists():
        raise Conflict(_("This question is already in the set."))
    made = Case.objects.create(
        question_set=within,
        question=find_stored_question(message),
        person=message.session.user,
        is_answerable=True if message.rating == Rating.HELPFUL else None,
        message=message,
    )
    record_conversation_view(Principal.of(user), message.session)
    _record_set_change(user, within, added=1, answer=str(message.pk))
    return made


@transaction.atomic
def remove_case(user: Who, set_id: UUID, case_id: UUID) -> None:
    """Remove a question with its results in runs. Raises PermissionDenied, NotFound."""
    within = find_question_set(user, set_id)
    find_case(within, case_id).delete()
    _record_set_change(user, within, removed=1)


@transaction.atomic
def start_run(user: Who, set_id: UUID, *, language: str, profile_id: str = "") -> SetRun:
    """Ask every question of a set, in the background.

    Raises PermissionDenied, NotFound, InvalidInput, and Conflict while a run is under way.
    """
    from agent.tasks import evaluate_next

    within = find_question_set(user, set_id)
    _require_no_open_run(within)
    profile = AgentProfile.objects.filter(pk=profile_id).first() if profile_id else None
    cases = list(within.cases.values_list("pk", "question"))
    if not cases:
        raise InvalidInput(_("The set has no questions yet."))
    made = SetRun.objects.create(question_set=within, started_by_id=user.pk, profile=profile, language=language)
    CaseResult.objects.bulk_create(CaseResult(run=made, case_id=pk, question=question) for pk, question in cases)
    record_action(
        Principal.of(user), Action.EVALUATION_STARTED, within, run_id=str(made.pk), detail={"questions": len(cases)}
    )
    transaction.on_commit(lambda: evaluate_next.apply_async(args=(str(made.pk),), queue="bulk"))
    return made


@transaction.atomic
def stop_run(user: Who, set_id: UUID, run_id: UUID) -> None:
    """Stop a run after its current question. Raises PermissionDenied, NotFound."""
    within = find_question_set(user, set_id)
    if not within.runs.filter(pk=run_id, ended_at=None).update(stopped_at=timezone.now()):
        raise NotFound(_("There is no such run in progress."))
    _record_set_change(user, within, stopped=str(run_id))


def _require_no_open_run(within: QuestionSet) -> None:
    """Require that no run is under way; none can start until the transaction ends. Raises Conflict."""
    QuestionSet.objects.select_for_update().get(pk=within.pk)
    if within.runs.filter(ended_at=None, stopped_at=None).exists():
        raise Conflict(_("A run over this set is in progress: wait for it, or stop it."))


def _require_case_room(within: QuestionSet, more: int) -> None:
    if within.cases.count() + more > MAX_CASES:
        raise InvalidInput(_("A set has at most %(most)s questions.") % {"most": MAX_CASES})


def _record_set_change(user: Who, row: QuestionSet, **detail: object) -> None:
    record_action(Principal.of(user), Action.EVALUATION_CHANGED, row, detail=detail)
