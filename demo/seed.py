"""Fills an empty database with the demo company, through the same services that people use."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import Group, Permission, User
from django.core.files import File
from django.db import connection, transaction
from django.utils import timezone

from agent.models import AgentProfile
from authz.models import OrgUnit, UnitKind
from authz.people.roles import create_role
from authz.people.units import create_unit
from authz.permissions import Right
from authz.rights.grants import grant_rights
from demo.business_data import (
    ASKERS,
    OWNERS,
    describe_business_data,
    grant_asking,
    grant_correcting,
    load_business_data,
)
from demo.company import ADMINISTRATOR, BilingualText, Company, FolderSpec, list_documents, load_company
from demo.unfinished import is_empty, list_waiting_documents
from demo.wiki import connect_wiki
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Folder, KnowledgeBase
from knowledge.services.access import set_discoverable
from knowledge.services.folders import add_folder, create_knowledge_base, find_root_folder
from knowledge.services.uploads import IncomingFile, add_document

AUDITORS_MAY = ("view_entry", "export_entry", "view_checkpoint", "view_hold")
Places = dict[str, KnowledgeBase | Folder]


def seed_company(progress: Callable[[Sequence[UUID]], Iterable[UUID]]) -> None:
    """Make people, rights, documents and business data, then ingest every document here and now, so that the first question
    finds them. Killed at any point and called again, it goes on: either nothing is there yet, or all but what waits to be read.

    progress: wraps the list of versions that are ingested one by one, such as tqdm.
    """
    with _hold_seed_lock():
        if is_empty():
            company = load_company()
            # A database of its own, made anew as long as the transaction below did not end.
            address = load_business_data()
            with transaction.atomic():
                _fill_database(company)
                source = describe_business_data(address)
                grant_asking(source, [find_company_group(company, key) for key in ASKERS])
                grant_correcting(source, [find_company_group(company, key) for key in OWNERS])
        for version_id in progress(list(list_waiting_documents().values_list("pk", flat=True))):
            run_ingestion(version_id)


def _fill_database(company: Company) -> None:
    create_people(company)
    places = create_trees(company)
    for grant in company.grants:
        holder = User.objects.get(username=grant.user) if grant.user else find_company_group(company, grant.group or "")
        grant_rights(None, [Right(right) for right in grant.may], places[grant.where], to=holder)
    _upload_documents(company, places)
    engineering = places["engineering"]
    assert isinstance(engineering, KnowledgeBase)
    connect_wiki(engineering)
    create_assistants(company, places)


def create_assistants(company: Company, places: Places) -> None:
    """Create the assistants besides the general one."""
    for spec in company.assistants:
        made = AgentProfile.objects.create(
            name=format_name_by_reader(spec.name),
            description=format_name_by_reader(spec.about),
            icon=spec.icon,
            questions_en="\n".join(company.asked(spec, "en")),
            questions_zh="\n".join(company.asked(spec, "zh-hans")),
        )
        made.groups.set([find_company_group(company, key) for key in spec.groups])
        made.knowledge_bases.set([base for key in spec.bases if isinstance(base := places[key], KnowledgeBase)])


@contextmanager
def _hold_seed_lock() -> Iterator[None]:
    """Let only one process fill the database: a killed start may have left its seeding at work."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended('demo', 0))")
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(hashtextextended('demo', 0))")


def create_people(company: Company) -> None:
    """Create units, roles and people, and one administrator, who governs everything and reads only through “View as”."""
    for group in company.groups:
        if group.kind == "role":
            create_role(None, name=format_bilingual_name(group.name))
        else:
            above = OrgUnit.objects.get(group=find_company_group(company, group.parent)) if group.parent else None
            create_unit(None, name=format_bilingual_name(group.name), kind=UnitKind.DEPARTMENT, parent=above)
    for person in company.people:
        name = person.name.zh if person.language == "zh-hans" else person.name.en
        user = User.objects.create_user(
            person.username, person.email, company.password, first_name=name, is_staff=person.staff
        )
        user.groups.set([find_company_group(company, key) for key in person.groups])
    auditors = find_company_group(company, "auditors")
    auditors.permissions.set(Permission.objects.filter(content_type__app_label="audit", codename__in=AUDITORS_MAY))
    User.objects.create_superuser(ADMINISTRATOR, "", company.password, first_name="Administrator")


def create_trees(company: Company) -> Places:
    """Create knowledge bases and folders; return them by the place names that grants use."""
    places: Places = {}
    for base in company.knowledge_bases:
        made = create_knowledge_base(
            None, name=format_name_by_reader(base.name), description=format_name_by_reader(base.about)
        )
        places[base.key] = made
        _create_folders(base.key, find_root_folder(made), base.folders, places)
    return places


def find_company_group(company: Company, key: str) -> Group:
    spec = next(group for group in company.groups if group.key == key)
    return Group.objects.get(name=format_bilingual_name(spec.name))


def format_bilingual_name(text: BilingualText) -> str:
    """Return one name for both languages, as a mixed company writes on the door."""
    return text.en if text.zh == text.en else f"{text.zh} {text.en}"


def format_name_by_reader(text: BilingualText) -> str:
    """Return a name for both languages of which each reader sees their half."""
    return text.en if text.zh == text.en else f"{text.zh} | {text.en}"


def _create_folders(above: str, parent: Folder, specs: Sequence[FolderSpec], places: Places) -> None:
    for spec in specs:
        folder = add_folder(None, parent, format_name_by_reader(spec.name))
        places[f"{above}/{spec.key}"] = folder
        if spec.askable:
            set_discoverable(None, folder, is_discoverable=True)
        _create_folders(f"{above}/{spec.key}", folder, spec.folders, places)


def _upload_documents(company: Company, places: Places) -> None:
    reviews = {review.document: review for review in company.reviews}
    for document in list_documents(company):
        place = places[document.folder]
        folder = find_root_folder(place) if isinstance(place, KnowledgeBase) else place
        with document.file.open("rb") as content:
            added = add_document(None, folder, IncomingFile(document.file.name, File(content))).document
        if review := reviews.get(f"{document.folder}/{document.file.name}"):
            added.owner = User.objects.get(username=review.owner)
            added.review_on = timezone.localdate() + timedelta(days=review.in_days)
            added.save(update_fields=["owner", "review_on"])
