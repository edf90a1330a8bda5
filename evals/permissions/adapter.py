"""Connect a system to the permissions benchmark: the whole interface that a system needs, some 100 lines for another product.

A system gets documents with one folder each, people, and grants on folders. It is asked questions as these people, and returns everything
that the person saw, by channel. The benchmark does not look inside: it searches what was shown for codes that only one document has.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evals.permissions.world import PermissionsWorld


@dataclass(frozen=True)
class Shown:
    """Everything a person saw for one question.

    channels: text by channel, such as "answer", "titles", "suggestions" and "export"; a channel the system lacks is left out.
    documents: ids of the documents shown as sources, best first. counts: numbers of documents that the person was told of.
    """

    channels: Mapping[str, str]
    documents: Sequence[str] = ()
    counts: Sequence[int] = field(default=())


class System(Protocol):
    """A system under test. Ids of documents and names of people are those of the world."""

    name: str

    def load(self, world: PermissionsWorld) -> None:
        """Bring in the documents, each in a folder of its own, and the people, who have no rights yet."""

    def grant(self, person: str, documents: Sequence[str]) -> None:
        """Let a person read the folders of these documents."""

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        """Take that right back; it is in force when this returns."""

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        """Ask as a person, and return what they saw.

        meanwhile: to be called once, after the search and before the answer is shown. What the person saw before that call is left out
        of the result. A system that cannot be stopped there calls it from a thread, and leaves out what was shown before it returned.
        """
