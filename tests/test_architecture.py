"""The rules of the house that no type checker sees, read from the source and from the models."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models

from authz.managers import GuardedManager, MissingPrincipal
from copilot_site.celery import app as celery_app

ROOT = Path(__file__).resolve().parent.parent
APPS = ("agent", "audit", "authz", "copilot_site", "demo", "knowledge", "scripts")
MODELS = "declares the manager beside the guarded one"
WORKER = "a worker acts for nobody; it is handed the ids of what a person was allowed to store"
LONGEST = 400  # lines; a longer file is two nouns

# Every file that may read protected rows without saying who asks, and why.
UNSCOPED = {
    "knowledge/models/bases.py": MODELS,
    "knowledge/models/folders.py": MODELS,
    "knowledge/models/documents.py": MODELS,
    "knowledge/models/chunks.py": MODELS,
    "knowledge/ingestion/lease.py": WORKER,
    "knowledge/ingestion/pipeline.py": WORKER,
    "knowledge/ingestion/completion.py": WORKER,
    "knowledge/ingestion/publish.py": WORKER,
    "knowledge/ingestion/stages.py": WORKER,
    "knowledge/ingestion/statistics.py": WORKER,
    "knowledge/ingestion/indexing.py": WORKER,
    "knowledge/tasks.py": WORKER,
    "knowledge/services/documents.py": "locks the row that `delete_document` found visible",
    "knowledge/selectors.py": "names of folders that were made discoverable; nothing else of them is read",
    "knowledge/services/access.py": "changes rows on which `manage` was checked",
    "knowledge/services/nodes.py": "locks and moves the rows of a document whose rights are changed by whoever may",
    "knowledge/services/indexes.py": "counts rows to decide on an index; no row of it reaches anybody",
    "knowledge/services/reindex.py": "a command of the operator",
    "knowledge/services/reread.py": "has workers and the operator read documents again; counts them for whoever sets up the base",
    "knowledge/management/commands/reread.py": "a command of the operator",
    "knowledge/services/grant_files.py": "commands of the operator",
    "knowledge/services/folders.py": "names are unique in a base whoever sees them; rows were checked by get_visible",
    "knowledge/services/uploads.py": "file names are unique in a folder on which `add` was checked",
    "agent/benchmarks/forbidden_world.py": "fills bases of its own, which are rolled back",
    "knowledge/benchmarks/scale_world.py": "fills a base of its own, and reads what it filled",
    "knowledge/benchmarks/rights_world.py": "fills a base of its own, which is rolled back",
    "knowledge/evaluation/corpus.py": "fills and reads a base of its own",
    "knowledge/management/commands/import_folder.py": "a command of the operator",
    "demo/business_data.py": "a command of the operator",
    "demo/unfinished.py": "a command of the operator",
    "authz/checks.py": "asks whether a row exists, to spend the same time on one that does not; nothing of it leaves",
    "authz/governing.py": "superusers govern all rows; it grants no reading of content",
    "knowledge/governance/effective_rights.py": "explains and compares rights for whoever governs the places",
    "knowledge/governance/evidence.py": "compares hashes of texts for a replay; no text of a row reaches anybody",
    "agent/business/models.py": MODELS,
    "agent/business/connection_rights.py": "all of them for whoever may say where they are; their content stays where it is",
    "agent/business/source_checks.py": "the operator's doctor",
    "agent/business/housekeeping.py": "a worker tidies the databases of all sources; no row reaches anybody",
    "agent/business/management/commands/data_source.py": "a command of the operator",
    "agent/business/management/commands/introspect_datasource.py": "a command of the operator",
}


def sources() -> Iterator[Path]:
    for app in APPS:
        yield from (path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


def uses_unscoped(source: str) -> bool:
    """Does the code say `unscoped`, as an attribute, a name, or a string for getattr?"""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "unscoped":
            return True
        if isinstance(node, ast.Name) and node.id == "unscoped":
            return True
        if isinstance(node, ast.Constant) and node.value == "unscoped":
            return True
    return False


def backdoors(source: str) -> set[str]:
    """Managers of Django's own that lead past the guard without naming it."""
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in {"_base_manager", "_default_manager"}
    }


def imports(source: str) -> set[str]:
    """The packages a file imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def guarded_models() -> list[Any]:
    return [model for model in apps.get_models() if hasattr(model, "reach")]


def test_only_the_listed_files_read_without_a_principal() -> None:
    found = {str(path.relative_to(ROOT)) for path in sources() if uses_unscoped(path.read_text())}
    assert found == set(UNSCOPED), "add the file with its reason, or take the entry out"


def test_nobody_goes_round_the_guard_by_another_manager() -> None:
    found = {str(path.relative_to(ROOT)): backdoors(path.read_text()) for path in sources()}
    assert {name: used for name, used in found.items() if used} == {}


@pytest.mark.parametrize(
    "source", ["Folder.unscoped.all()", "getattr(Folder, 'unscoped')", "m = unscoped", "x = lambda: F.unscoped"]
)
def test_the_reading_of_unscoped_sees_every_way_to_write_it(source: str) -> None:
    assert uses_unscoped(source)


def test_the_protected_models_are_these() -> None:
    """A model that holds text or names of documents and has no `reach` would be missing here."""
    assert {model.__name__ for model in guarded_models()} == {
        "KnowledgeBase", "Folder", "Document", "DocumentVersion", "Chunk", "ChunkIndex", "ChunkTokens", "DataSource",
    }  # fmt: skip


@pytest.mark.parametrize("model", guarded_models(), ids=lambda model: model.__name__)
@pytest.mark.parametrize("method", ["all", "filter", "get", "count", "first", "exists", "values", "raw", "create"])
def test_a_protected_model_gives_no_row_without_a_principal(model: Any, method: str) -> None:
    assert isinstance(model.objects, GuardedManager)
    with pytest.raises((MissingPrincipal, AttributeError)):
        getattr(model.objects, method)(*["SELECT 1"] if method == "raw" else [])


@pytest.mark.parametrize("model", guarded_models(), ids=lambda model: model.__name__)
def test_no_other_row_leads_back_to_protected_rows_by_the_guarded_manager(model: Any) -> None:
    """Django's own checks, cascades and relations use the plain manager: they must neither fail nor guess."""
    assert model._meta.default_manager_name == model._meta.base_manager_name == "unscoped"
    assert type(model._default_manager) is models.Manager


def test_only_authz_imports_guardian() -> None:
    found = {str(path.relative_to(ROOT)) for path in sources() if "guardian" in imports(path.read_text())}
    assert {name.partition("/")[0] for name in found} == {"authz"}


def test_no_file_is_longer_than_a_person_reads() -> None:
    everything = [*sources(), *(ROOT / "tests").rglob("*.py")]
    long = {
        str(path.relative_to(ROOT)): n for path in everything if (n := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_no_file_is_named_after_nothing() -> None:
    nameless = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "misc.py"}
    assert [path for path in [*sources(), *(ROOT / "tests").rglob("*.py")] if path.name in nameless] == []


def test_the_admin_s_own_log_is_not_installed_beside_the_audit_log() -> None:
    """Two logs of who changed what would disagree; Django's can be deleted by staff."""
    from django.contrib import admin

    registered = {model.__name__ for model in admin.site._registry}
    assert "LogEntry" not in registered
    assert "Entry" in registered


def test_every_task_that_beat_sends_exists() -> None:
    celery_app.loader.import_default_modules()
    sent = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} | set(settings.CELERY_TASK_ROUTES)
    assert sent - set(celery_app.tasks) == set()
