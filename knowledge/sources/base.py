"""The interface of a kind of source. One kind is one file in `connectors/`, registered there by its name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.registry import Registry, load_modules
from copilot_site.lib.text.one_line import fold_to_one_line


class Unreadable(InvalidInput):
    """Something in the source cannot be read; the text says why in one sentence."""


class Passing(Unreadable):
    """It cannot be read now, and may be in a moment."""


@dataclass(frozen=True)
class ListedItem:
    """A page or file in the source.

    id: its stable id in the source. path: folders and file name below the folder that is filled, by `/`; its
    ending says the type. version: changes when it changes. was: the id that it had before, where the connector knows that it moved.
    title: "" leaves it to the document. memory: what the connector wants to be told of it next time.
    """

    id: str
    path: str
    version: str
    title: str = ""
    url: str = ""
    author: str = ""
    modified_at: datetime | None = None
    was: str = ""
    memory: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _fold_to_one_line(self, "title", "author")


@dataclass(frozen=True)
class Missed:
    """An item of the source that could not be read. is_branch: everything whose id begins with this is unknown."""

    id: str
    why: str
    is_branch: bool = False


@dataclass(frozen=True)
class KnownItem:
    """The state of an item as it was last read."""

    version: str
    memory: Mapping[str, Any]


@dataclass(frozen=True)
class ItemContent:
    """The content of an item. sections: headings with their anchors in the source."""

    data: bytes
    title: str = ""
    author: str = ""
    modified_at: datetime | None = None
    sections: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _fold_to_one_line(self, "title", "author")


@dataclass(frozen=True)
class PathReaders:
    """The readers of what is below a path of the source: names of people and groups here. prefix: "" is everything."""

    prefix: str
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ConnectorContext:
    """The context of a connector's run, beside its settings.

    secret: in the clear. known: by id. state: what it left there last time. pace: called before each request, waits. cache: a name
    of its own for a folder that may be lost.
    """

    secret: str = ""
    known: Mapping[str, KnownItem] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    pace: Callable[[], None] = lambda: None
    cache: str = ""


class Settings(BaseModel):
    """What a kind of source asks for: the fields of its form, with their titles and descriptions."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    @property
    def address(self) -> str:
        """Return the address a secret is for: a change of it drops the secret. "" where there is none."""
        return ""


def build_settings_field(label: Any, about: Any = "", *, default: Any = ..., choices: Any = None, **limits: Any) -> Any:
    """Return a field of Settings with label and help. choices: {value: words}. limits: as for Field."""
    extra: Any = {"label": label, "about": about, "choices": choices or {}}
    return Field(default, json_schema_extra=extra, **limits)


def find_field_labels(field: FieldInfo) -> tuple[Any, Any]:
    """Return label and help of a field made by `build_settings_field`."""
    extra: Any = field.json_schema_extra
    return extra["label"], extra["about"]


class Connector(ABC):
    """The reader of one kind of source, made for one run.

    label, about: for people. noun: what a citation calls an item of it. secret_label: what its secret is, "" where it takes none.
    wants: its Settings. takes_rights: whether `rights` can say something. ids_are_paths: whatever is renamed has another id, so
    what is new is compared with what is gone. state: what it wants to be given next time; kept when a run has seen everything.
    """

    label: ClassVar[Any]
    about: ClassVar[Any]
    noun: ClassVar[Any]
    wants: ClassVar[Any]
    secret_label: ClassVar[Any] = ""
    ids_are_paths: ClassVar[bool] = False
    takes_rights: ClassVar[bool] = False
    state: Mapping[str, Any] = MappingProxyType({})

    @abstractmethod
    def __init__(self, settings: Any, reading: ConnectorContext) -> None:
        """Prepare to read a source. settings: of `wants`. Raises Unreadable."""

    @abstractmethod
    def listing(self) -> Iterator[ListedItem | Missed]:
        """Yield all items of the source. Raises Unreadable where they cannot be listed completely."""

    @abstractmethod
    def fetch(self, item: ListedItem) -> ItemContent:
        """Return the content of an item from `listing`; at least the latest item must work. Raises Unreadable."""

    def rights(self) -> list[PathReaders] | None:
        """Return the source's access rules, called before `listing`; None without any. Raises Unreadable where they are unclear."""
        return None

    def close(self) -> None:  # noqa: B027  # most have nothing open
        """Close connections and files."""


connectors: Registry[type[Connector]] = Registry("kind of source")


def _fold_to_one_line(frozen: ListedItem | ItemContent, *names: str) -> None:
    """Fold texts to one line, as they will be stored, so that the next run sees no difference."""
    for name in names:
        object.__setattr__(frozen, name, fold_to_one_line(getattr(frozen, name)))


def load_connectors() -> None:
    load_modules("knowledge.sources.connectors")


def find_section_url(url: str, sections: list[tuple[str, str]], heading_path: tuple[str, ...]) -> str:
    """Return the address of the innermost heading that can be linked to; the page's own where none can."""
    anchors = {fold_to_one_line(heading).casefold(): anchor for heading, anchor in reversed(sections)}
    for heading in reversed(heading_path):
        anchor = anchors.get(heading.casefold())
        if url and anchor:
            return f"{url.partition('#')[0]}#{anchor}"
    return url
