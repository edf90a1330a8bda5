"""`manage.py source …`: what keeps folders as they are out there, from the command line."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from copilot_site.lib.commands import report_command_errors
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.progress import show_progress_bar
from copilot_site.lib.registry import UnknownName
from knowledge.ingestion.completion import wait_for_versions
from knowledge.models import (
    DocumentVersion,
    Every,
    KnowledgeBase,
    ParseStatus,
    Source,
    SourceItem,
    SourceRun,
    SourceRunState,
    Trigger,
)
from knowledge.services.folders import ensure_path, find_root_folder, split_folder_path
from knowledge.sources.base import connectors, load_connectors
from knowledge.sources.reading import (
    find_connector_type,
    open_source_secret,
    preview_source,
    read_source,
    validate_settings,
)
from knowledge.sources.services import save_source


class Command(BaseCommand):
    help = "List, try, add and read sources of documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="every source with its last run")
        actions.add_parser("kinds", help="the kinds of sources with their settings")
        adding = actions.add_parser("add", help="make a source; its secret, if it has one, is read from standard input")
        trying = actions.add_parser("try", help="show what a source would bring; nothing is stored")
        for item in (adding, trying):
            item.add_argument("kind")
            item.add_argument(
                "--set",
                dest="given",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help="a setting; a list by repeating it",
            )
            item.add_argument("--secret", action="store_true", help="read a password or token from standard input")
        adding.add_argument("--name", required=True)
        adding.add_argument("--kb", required=True, help="name of the knowledge base")
        adding.add_argument("--folder", required=True, help="folder in it, like A/B; made when missing")
        adding.add_argument(
            "--every", type=int, default=Every.DAY, choices=Every.values, help="minutes; 0: by hand alone"
        )
        adding.add_argument("--grace-hours", type=int, default=24)
        running = actions.add_parser("run", help="read a source now, here; ends with 1 where something failed")
        running.add_argument("name")
        running.add_argument("--wait", action="store_true", help="until what it brought can be searched")

    def handle(self, *, action: str, **options: Any) -> None:
        with report_command_errors():
            try:
                getattr(self, f"_{action}")(**options)
            except UnknownName as error:
                raise CommandError(str(error)) from error

    def _list(self, **_options: Any) -> None:
        for source in Source.unscoped.select_related("folder__knowledge_base"):
            run = SourceRun.objects.filter(source=source).first()
            last = f"{run.state} {run.started_at:%Y-%m-%d %H:%M}" if run else "not read yet"
            self.stdout.write(
                f"{source.name}: {source.kind} → {source.folder.knowledge_base} / {source.folder.name}; {last}"
            )

    def _kinds(self, **_options: Any) -> None:
        load_connectors()
        for name in connectors.names():
            fields = connectors.get(name).wants.model_fields.items()
            self.stdout.write(
                f"{name}: {', '.join(key if field.is_required() else f'[{key}]' for key, field in fields)}"
            )

    def _try(self, *, kind: str, given: list[str], secret: bool, **_options: Any) -> None:
        found = preview_source(Source(kind=kind, settings=_parse_settings(kind, given)), secret=_read_secret(secret))
        more = "more than " if found.is_more else ""
        self.stdout.write(f"{more}{found.count} pages would come")
        for title in found.titles:
            self.stdout.write(f"  {title}")
        for problem in found.problems:
            self.stdout.write(f"  ! {problem}")

    def _add(
        self, *, kind: str, given: list[str], secret: bool, name: str, kb: str, folder: str, **options: Any
    ) -> None:
        base = KnowledgeBase.unscoped.filter(name=kb).first()
        if base is None:
            raise NotFound(f"There is no knowledge base “{kb}”.")
        with transaction.atomic():
            place = ensure_path(None, find_root_folder(base), split_folder_path(folder))
            source = Source(name=name, folder=place, kind=kind, settings=_parse_settings(kind, given))
            source.every_minutes, source.grace_hours = options["every"], options["grace_hours"]
            save_source(None, source, secret=_read_secret(secret))
        self.stdout.write(
            f"{source.name} is made; read it with: manage.py source run {json.dumps(source.name, ensure_ascii=False)}"
        )

    def _run(self, *, name: str, wait: bool, **_options: Any) -> None:
        source = Source.unscoped.filter(name=name).first()
        if source is None:
            raise NotFound(f"There is no source “{name}”.")
        open_source_secret(source)
        run = read_source(source.pk, Trigger.HAND)
        if run is None:
            raise InvalidInput(f"“{name}” is being read already.")
        self.stdout.write(
            f"{run.seen} pages: {run.added} new, {run.changed} changed, {run.moved} moved, {run.unchanged} as before, "
            f"{run.withdrawn} withdrawn, {run.failed} failed."
        )
        for item in run.problems:
            self.stdout.write(f"  {item['what']}: {item['why']}")
        if wait:
            self._wait(source)
        if run.state != SourceRunState.DONE:
            raise CommandError(run.problem or "Not everything could be read; the next run tries it again.")

    def _wait(self, source: Source) -> None:
        documents = SourceItem.unscoped.filter(source=source).values("document")
        rows = DocumentVersion.unscoped.filter(document__in=documents).exclude(parse_status=ParseStatus.COMPLETED)
        ids = list(rows.values_list("pk", flat=True))
        bar = show_progress_bar(ids, desc="read and index", unit="page")
        with bar:
            wait_for_versions(ids, queue="bulk", done=lambda count: bar.update(count - int(bar.n)))


def _parse_settings(kind: str, given: list[str]) -> dict[str, Any]:
    """Return {name: value} of `NAME=VALUE`s, as the kind reads them. Raises InvalidInput."""
    fields = find_connector_type(kind).wants.model_fields
    found: dict[str, Any] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark:
            raise InvalidInput(f"“{text}” is no setting: write it as NAME=VALUE.")
        is_list = name in fields and "list" in str(fields[name].annotation)
        found[name] = [*found.get(name, []), value] if is_list else value
    return validate_settings(kind, found).model_dump(mode="json")


def _read_secret(wanted: bool) -> str:
    return sys.stdin.readline().strip() if wanted else ""
