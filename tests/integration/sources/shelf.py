"""Runs of sources in tests, and what they left."""

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User

from authz.principal import Principal
from knowledge.models import Document, Folder, Source, SourceItem, SourceRun, Trigger
from knowledge.sources.reading import read_source


def read(source: Source) -> SourceRun:
    run = read_source(source.pk, Trigger.HAND)
    assert run is not None
    run.refresh_from_db()
    return run


def counts(run: SourceRun) -> dict[str, int]:
    """What a run counted, without what is nothing."""
    names = ("added", "changed", "moved", "unchanged", "withdrawn", "failed")
    return {name: getattr(run, name) for name in names if getattr(run, name)}


def paths(folder: Folder) -> dict[str, str]:
    """{path below the folder: newest text} of all documents that are not withdrawn."""
    found = {}
    for document in Document.unscoped.filter(knowledge_base=folder.knowledge_base, withdrawn_at=None):
        names, place = [document.filename], document.folder
        while place.pk != folder.pk and place.parent is not None:
            names.append(place.name)
            place = place.parent
        found["/".join(reversed(names))] = text_of(document)
    return found


def text_of(document: Document) -> str:
    version = document.versions.order_by("-number")[0]
    with version.file.open("rb") as file:
        return str(file.read().decode())


def item_of(source: Source, path: str) -> SourceItem:
    return SourceItem.unscoped.select_related("document").get(source=source, path=path)


def who_sees(source: Source, path: str, people: Iterable[User]) -> set[str]:
    document = item_of(source, path).document
    assert document is not None
    return {
        user.username
        for user in people
        if Document.objects.visible_to(Principal.of(user)).filter(pk=document.pk).exists()
    }


def who(source: Source, people: Sequence[User], *expected: str) -> dict[str, set[str]]:
    """Who of these people sees each of these paths."""
    return {path: who_sees(source, path, people) for path in expected}
