"""Fills an empty database with the demo company, through the same services that people use."""

from collections.abc import Callable, Iterable, Sequence

from django.contrib.auth.models import Group, Permission, User
from django.core.files import File
from django.db import transaction

from authz.grants import give
from authz.models import OrgUnit, UnitKind
from authz.permissions import Right
from authz.units import create_role, create_unit
from demo.business_data import ASKERS, describe_business_data, load_business_data, may_ask
from demo.company import BilingualText, Company, FolderSpec, documents, load_company
from demo.logins import ADMINISTRATOR
from knowledge.ingestion.pipeline import ingest
from knowledge.models import Folder, KnowledgeBase
from knowledge.services.folders import add_folder, create_knowledge_base, root_folder
from knowledge.services.uploads import IncomingFile, Upload, add_document

AUDITORS_MAY = ("view_entry", "export_entry", "view_checkpoint", "view_hold")
Places = dict[str, KnowledgeBase | Folder]


def is_empty() -> bool:
    """Nobody and nothing is there yet; whatever somebody made or deleted since stays as it is."""
    return not User.objects.exists() and not KnowledgeBase.unscoped.exists()


def seed(progress: Callable[[Sequence[Upload]], Iterable[Upload]]) -> None:
    """Make people, rights and documents, then ingest every document here and now, so that the first question finds them;
    last the business data.

    progress: wraps the list of uploads that are ingested one by one, such as tqdm.
    """
    company = load_company()
    with transaction.atomic():
        people(company)
        places = trees(company)
        for grant in company.grants:
            holder = User.objects.get(username=grant.user) if grant.user else group_of(company, grant.group or "")
            give(None, [Right(right) for right in grant.may], places[grant.where], to=holder)
        uploads = _upload_all(company, places)
    for upload in progress(uploads):
        ingest(upload.version.pk)
    may_ask(describe_business_data(load_business_data()), [group_of(company, key) for key in ASKERS])


def people(company: Company) -> None:
    """Units, roles and people, and one administrator, who governs everything and reads only as “See as” shows it."""
    for group in company.groups:
        if group.kind == "role":
            create_role(None, name=bilingual(group.name))
        else:
            above = OrgUnit.objects.get(group=group_of(company, group.parent)) if group.parent else None
            create_unit(None, name=bilingual(group.name), kind=UnitKind.DEPARTMENT, parent=above)
    for person in company.people:
        name = person.name.zh if person.language == "zh-hans" else person.name.en
        user = User.objects.create_user(
            person.username, person.email, company.password, first_name=name, is_staff=person.staff
        )
        user.groups.set([group_of(company, key) for key in person.groups])
    auditors = group_of(company, "auditors")
    auditors.permissions.set(Permission.objects.filter(content_type__app_label="audit", codename__in=AUDITORS_MAY))
    User.objects.create_superuser(ADMINISTRATOR, "", company.password, first_name="Administrator")


def trees(company: Company) -> Places:
    """Knowledge bases and folders, by the place names that grants use."""
    places: Places = {}
    for base in company.knowledge_bases:
        made = create_knowledge_base(None, name=bilingual(base.name), description=bilingual(base.about))
        places[base.key] = made
        _folders(base.key, root_folder(made), base.folders, places)
    return places


def group_of(company: Company, key: str) -> Group:
    spec = next(group for group in company.groups if group.key == key)
    return Group.objects.get(name=bilingual(spec.name))


def bilingual(text: BilingualText) -> str:
    """One name for both languages: what a mixed company writes on the door."""
    return text.en if text.zh == text.en else f"{text.zh} {text.en}"


def _folders(above: str, parent: Folder, specs: Sequence[FolderSpec], places: Places) -> None:
    for spec in specs:
        folder = add_folder(None, parent, bilingual(spec.name))
        places[f"{above}/{spec.key}"] = folder
        _folders(f"{above}/{spec.key}", folder, spec.folders, places)


def _upload_all(company: Company, places: Places) -> list[Upload]:
    uploads = []
    for document in documents(company):
        place = places[document.folder]
        folder = root_folder(place) if isinstance(place, KnowledgeBase) else place
        with document.file.open("rb") as content:
            uploads.append(add_document(None, folder, IncomingFile(document.file.name, File(content))))
    return uploads
