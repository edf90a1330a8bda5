"""The wiki of the demo company's engineers: a git repository made on this machine, and the source that keeps it here."""

from pathlib import Path
from typing import Any

from django.conf import settings

from knowledge.models import Every, KnowledgeBase, Source, Trigger
from knowledge.services.folders import add_folder, root_folder
from knowledge.sources.reading import read_source
from knowledge.sources.services import save_source

PAGES = Path(__file__).parent / "wiki"
AUTHOR = b"Chen Wei <chen.wei@evenkeel.example>"
NAME = "团队维基 Team wiki"


def page_names() -> list[str]:
    """The file names of its pages."""
    return [page.name for page in PAGES.rglob("*.md")]


def make_repository() -> Path:
    """The repository with every page, and who may see them, in one commit; one that is there stays as it is."""
    from dulwich import porcelain

    folder = Path(settings.DEMO_WIKI)
    if not (folder / ".git" / "refs" / "heads" / "main").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ".git").exists():
            porcelain.init(str(folder))
        for page in (each for each in PAGES.rglob("*") if each.is_file()):
            copy = folder / page.relative_to(PAGES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(page.read_bytes())
            porcelain.add(str(folder), [str(copy)])
        repository: Any  # dulwich's own type of a name is no type of bytes
        with porcelain.open_repo_closing(str(folder)) as repository:
            repository.refs.set_symbolic_ref(b"HEAD", b"refs/heads/main")
            porcelain.commit(repository, message=b"Begin the wiki.", author=AUTHOR, committer=AUTHOR)
    return folder


def connect_wiki(base: KnowledgeBase) -> None:
    """Fill a folder of the base from the repository, now and every hour; runs inside the caller's transaction."""
    source = Source(
        name=NAME,
        folder=add_folder(None, root_folder(base), NAME),
        kind="git",
        settings={"url": str(make_repository())},
        every_minutes=Every.HOUR,
        takes_rights=True,
    )
    save_source(None, source)
    read_source(source.pk, Trigger.SCHEDULE)
