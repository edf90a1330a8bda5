"""The wiki of the demo company's engineers: a folder of this machine, and the source that keeps it here."""

from pathlib import Path
from shutil import copytree

from django.conf import settings

from knowledge.models import Every, KnowledgeBase, Source, Trigger
from knowledge.services.folders import add_folder, find_root_folder
from knowledge.sources.reading import read_source
from knowledge.sources.services import save_source

PAGES = Path(__file__).parent / "wiki"
NAME = "团队维基 | Team wiki"


def list_page_names() -> list[str]:
    """Return the file names of its pages."""
    return [page.name for page in PAGES.rglob("*.md")]


def copy_pages() -> Path:
    """Return the folder with every page, and who may see them; one that is there stays as it is."""
    folder = Path(settings.DEMO_WIKI)
    if not folder.exists():
        copytree(PAGES, folder)
    return folder


def connect_wiki(base: KnowledgeBase) -> None:
    """Fill a folder of the base from the wiki, now and every hour; runs inside the caller's transaction."""
    source = Source(
        name=NAME,
        folder=add_folder(None, find_root_folder(base), NAME),
        kind="folder",
        settings={"path": str(copy_pages())},
        every_minutes=Every.HOUR,
        takes_rights=True,
    )
    save_source(None, source)
    read_source(source.pk, Trigger.SCHEDULE)
