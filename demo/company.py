"""Reads `company.yaml`: the people, groups, folders, grants and sample questions of the demo company.

The file is checked as a whole when it is loaded, so that the seeding command meets only names that exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

COMPANY_FILE = Path(__file__).with_name("company.yaml")
DOCUMENTS = Path(__file__).with_name("documents")
ADMINISTRATOR = "admin"  # besides the people of the file
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml reads it in a tenth of the time

Language = Literal["zh-hans", "en"]
Permission = Literal["view", "download", "add", "change", "manage"]


class CompanyError(ValueError):
    """The company file is wrong; the message is one sentence that names the place."""


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BilingualText(_Spec):
    """The same text in both languages of the company."""

    zh: str
    en: str


class DemoGroup(_Spec):
    """A department, a team inside one, or a role that people of several departments have."""

    key: str
    kind: Literal["department", "team", "role"]
    name: BilingualText
    parent: str | None = None


class DemoPerson(_Spec):
    """Somebody who can sign in; `staff` opens the administration pages."""

    username: str
    name: BilingualText
    role: BilingualText
    email: str
    language: Language
    staff: bool
    groups: tuple[str, ...]


class FolderSpec(_Spec):
    """A folder and the folders in it; `key` is the name of its directory under `documents/`.

    askable: its name is told to people who may not read it, so that they can ask to be let in.
    """

    key: str
    name: BilingualText
    askable: bool = False
    folders: tuple["FolderSpec", ...] = ()


class KnowledgeBaseSpec(_Spec):
    """A knowledge base with its folder tree."""

    key: str
    name: BilingualText
    about: BilingualText
    folders: tuple[FolderSpec, ...]


class GrantSpec(_Spec):
    """A right of one group or one person in a place ("people" or "people/handbook") and in everything below it."""

    where: str
    may: tuple[Permission, ...]
    group: str | None = None
    user: str | None = None

    @model_validator(mode="after")
    def _names_one_grantee(self) -> Self:
        if (self.group is None) == (self.user is None):
            raise ValueError("a grant names either a group or a user")
        return self


class SampleQuestion(_Spec):
    """A question for the chat page. `readers` find `contains` in `document`; for everybody else it cannot be confirmed.

    Without a document nobody has an answer, and `readers` is empty.
    """

    ask: str
    language: Language
    document: str | None = None
    contains: str | None = None
    readers: tuple[str, ...] = ()


class ReviewSpec(_Spec):
    """The next review of a document by its owner. in_days: from the day the company is loaded."""

    document: str
    owner: str
    in_days: int


class AssistantSpec(_Spec):
    """An assistant that people of `groups` choose: it looks in `bases` alone, and offers `ask` to begin with."""

    name: BilingualText
    about: BilingualText
    icon: str
    bases: tuple[str, ...]
    groups: tuple[str, ...]
    ask: tuple[str, ...]


class Company(_Spec):
    """The whole company, checked: every name that one part uses is declared by another."""

    name: BilingualText
    about: BilingualText
    password: str
    groups: tuple[DemoGroup, ...]
    people: tuple[DemoPerson, ...]
    knowledge_bases: tuple[KnowledgeBaseSpec, ...]
    grants: tuple[GrantSpec, ...]
    questions: tuple[SampleQuestion, ...]
    assistants: tuple[AssistantSpec, ...] = ()
    reviews: tuple[ReviewSpec, ...] = ()

    @cached_property
    def places(self) -> frozenset[str]:
        """Return every path a grant may name: knowledge bases and folders."""
        bases = ((base.key, base.folders) for base in self.knowledge_bases)
        return frozenset(chain.from_iterable(_iterate_paths(key, folders) for key, folders in bases))

    def readers(self, path: str) -> frozenset[str]:
        """Return the usernames that a grant on `path` or on a place above it lets view the folder or document."""
        above = {path, *map(str, PurePosixPath(path).parents)}
        grants = [grant for grant in self.grants if grant.where in above and "view" in grant.may]
        return frozenset(
            person.username
            for person in self.people
            for grant in grants
            if grant.user == person.username or grant.group in person.groups
        )

    def asked(self, assistant: AssistantSpec, language: Language) -> list[str]:
        """Return the questions that an assistant offers in one language."""
        return [
            question.ask
            for question in self.questions
            if question.ask in assistant.ask and question.language == language
        ]

    @model_validator(mode="after")
    def _assistants_name_what_exists(self) -> Self:
        for assistant in self.assistants:
            where = f"the assistant {assistant.name.en!r}"
            _require_known_names(where, assistant.bases, frozenset(base.key for base in self.knowledge_bases), "base")
            _require_known_names(where, assistant.groups, frozenset(group.key for group in self.groups), "group")
            _require_known_names(
                where, assistant.ask, frozenset(question.ask for question in self.questions), "question"
            )
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        groups = _require_unique_keys("groups", [group.key for group in self.groups])
        people = _require_unique_keys("people", [person.username for person in self.people])
        _require_unique_keys("knowledge_bases", [base.key for base in self.knowledge_bases])
        for group in self.groups:
            _require_known_names(f"group {group.key}", [group.parent] if group.parent else [], groups, "group")
        for person in self.people:
            _require_known_names(f"person {person.username}", person.groups, groups, "group")
        for grant in self.grants:
            _require_known_names(f"grant on {grant.where}", [grant.where], self.places, "place")
            _require_known_names(f"grant on {grant.where}", [grant.group] if grant.group else [], groups, "group")
            _require_known_names(f"grant on {grant.where}", [grant.user] if grant.user else [], people, "person")
        for review in self.reviews:
            _require_known_names(f"the review of {review.document}", [review.owner], people, "person")
            _require_known_names(
                f"the review of {review.document}", [str(PurePosixPath(review.document).parent)], self.places, "place"
            )
        for question in self.questions:
            expected = self.readers(question.document) if question.document else frozenset()
            if set(question.readers) != expected:
                raise ValueError(
                    f"question {question.ask!r} names other readers than the grants, which give {sorted(expected)}"
                )
        return self


@dataclass(frozen=True)
class DemoDocument:
    """A file to upload into `folder`, a place such as "people/confidential/reviews"."""

    folder: str
    file: Path


def load_company(file: Path = COMPANY_FILE) -> Company:
    """Read and check a company file. Raises CompanyError with one sentence, OSError when the file cannot be read."""
    try:
        read = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506  # a safe one
        return Company.model_validate(read)
    except yaml.YAMLError as error:
        raise CompanyError(f"{file.name} is not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise CompanyError(f"{file.name}: {_format_first_error(error.errors()[0])}") from error


def list_documents(company: Company, root: Path = DOCUMENTS) -> list[DemoDocument]:
    """Return every document with its folder, sorted by path. Raises CompanyError for a file in no declared folder."""
    found = [
        DemoDocument(folder=file.parent.relative_to(root).as_posix(), file=file)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    ]
    for document in found:
        if document.folder not in company.places:
            raise CompanyError(
                f"{document.file.name} lies in {document.folder}, which is no folder of the company file"
            )
    return found


def _iterate_paths(parent: str, folders: Sequence[FolderSpec]) -> Iterator[str]:
    yield parent
    for folder in folders:
        yield from _iterate_paths(f"{parent}/{folder.key}", folder.folders)


def _require_unique_keys(where: str, keys: Sequence[str]) -> frozenset[str]:
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{where} has {key!r} twice")
    return frozenset(keys)


def _require_known_names(where: str, names: Sequence[str], known: frozenset[str], kind: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{where} names the {kind} {name!r}, which is not declared")


def _format_first_error(error: ErrorDetails) -> str:
    """Return one sentence for the first error, with its place such as people[2].email."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).removeprefix(".")
    if error["type"] == "extra_forbidden":
        return f"{place} is not a known key"
    if error["type"] == "missing":
        return f"{place} is missing"
    message = error["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
