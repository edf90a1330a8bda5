"""The rules of the house that no type checker sees, read from the source and from the models."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
from django.apps import apps
from django.conf import settings
from django.db import models

from authz.rights.managers import GuardedManager, MissingPrincipal
from copilot_site.celery import app as celery_app

ROOT = Path(__file__).resolve().parent.parent
APPS = ("agent", "audit", "authz", "business", "copilot_site", "demo", "evals", "knowledge", "scripts")
MODELS = "declares the manager beside the guarded one"
WORKER = "a worker acts for nobody; it is handed the ids of what a person was allowed to store"
DOWNWARDS = ("agent", "business", "knowledge", "authz", "audit")  # who stands above whom
RELATIONS = {"ForeignKey", "OneToOneField", "ManyToManyField"}  # name a model of any app by a string
CLASS_PATH = re.compile(r"\w+(\.[a-z_]+)*\.[A-Z]\w+$")
LONGEST = 400  # lines; a longer file is two nouns
MAX_FUNCTION = 50

# Every file that may read protected rows without saying who asks, and why.
UNSCOPED = {
    "copilot_site/export_all.py": "writes everything for `manage.py export_all`, which is recorded; for who has the server",
    "knowledge/admin.py": "states of versions of the documents that the list's own query chose",
    "copilot_site/consistency.py": "compares rows with files for `manage.py check_consistency`; prints ids, no text",
    "agent/admin/profiles.py": "the bases that an assistant has, for whoever may change assistants",
    "agent/models/verified_answers.py": MODELS,
    "agent/verified_answers/matching.py": "the statements over a source that its asker has opened; what they would run passes their rights",
    "agent/verified_answers/review.py": "compares what was verified with what stands there now; no text leaves",
    "agent/verified_answers/selectors.py": "the statements of a source, for the operator; how long it takes not to find one",
    "agent/verified_answers/services.py": "another answer to the same question in a folder or source whose keeper writes one",
    "authz/rights/managers.py": MODELS,
    "knowledge/models/chunks.py": MODELS,
    "knowledge/models/graph.py": MODELS,
    "knowledge/gauges.py": "numbers of versions and ages of sources for the operator; no text leaves",
    "knowledge/services/fields.py": "changes rows on which `manage` or `change` was checked",
    "knowledge/stated_fields.py": "fills fields of a document that is read, or of a base whose fields `set_fields` sets",
    "knowledge/graph/building.py": WORKER,
    "knowledge/graph/queueing.py": WORKER,
    "knowledge/graph/storage.py": WORKER,
    "knowledge/graph/admin_views.py": "counts rows for whoever manages the base; names come through what they may read",
    "knowledge/graph/services.py": "marks a relation that its caller was found to see",
    "knowledge/management/commands/build_graph.py": "a command of the operator",
    "knowledge/ingestion/lease.py": WORKER,
    "knowledge/ingestion/pipeline.py": WORKER,
    "knowledge/ingestion/completion.py": WORKER,
    "knowledge/ingestion/publish.py": WORKER,
    "knowledge/ingestion/stages.py": WORKER,
    "knowledge/ingestion/indexing.py": WORKER,
    "knowledge/ingestion/recutting.py": WORKER,
    "knowledge/pages/base_settings_views.py": "counts and fields of a base for whoever manages it; documents as they may read them",
    "knowledge/tasks.py": WORKER,
    "knowledge/services/removal.py": "deletes a row that its callers found visible, and counts what is left of it",
    "knowledge/services/mails.py": "whose documents are due, by the system; each is then counted as its owner may see it",
    "knowledge/services/trash.py": "what nobody's rights reach any more, for whoever could change it before; its end, by the system",
    "knowledge/selectors.py": "names of folders that were made discoverable; titles for readers of the audit log; hashes of texts",
    "knowledge/services/attachments.py": "finds the conversation of a file for whoever is then let in or not; its end, by the system",
    "knowledge/services/access.py": "changes rows on which `manage` was checked",
    "knowledge/services/access_nodes.py": "locks and moves the rows of a document whose rights are changed by whoever may",
    "knowledge/services/indexes.py": "counts rows to decide on an index; no row of it reaches anybody",
    "knowledge/services/reindex.py": "has workers and the operator read documents again; counts them for whoever sets up the base",
    "knowledge/management/commands/reread.py": "a command of the operator",
    "knowledge/services/grant_files.py": "commands of the operator",
    "knowledge/services/folders.py": "names are unique in a base whoever sees them; rows were checked by get_visible",
    "knowledge/services/uploads.py": "file names are unique in a folder on which `add` was checked",
    "knowledge/services/originals.py": "follows originals for whoever was checked; file names are unique in a folder",
    "knowledge/sources/services.py": "all of them for whoever may say where they are; their content stays where it is",
    "knowledge/sources/sync.py": WORKER,
    "knowledge/sources/reading.py": WORKER,
    "knowledge/sources/rights.py": WORKER,
    "knowledge/sources/runs.py": WORKER,
    "knowledge/sources/tasks.py": WORKER,
    "knowledge/sources/forms.py": "an empty choice, which whoever may choose fills",
    "knowledge/sources/views.py": "counts and names what a source brought for whoever looks after it",
    "knowledge/management/commands/source.py": "a command of the operator",
    "evals/forbidden_benchmark.py": "fills bases of its own, which are rolled back",
    "evals/scale_world.py": "fills a base of its own, and reads what it filled",
    "evals/rights_world.py": "fills a base of its own, which is rolled back",
    "evals/corpus.py": "fills and reads a base of its own",
    "knowledge/management/commands/import_folder.py": "a command of the operator",
    "demo/business_data.py": "a command of the operator",
    "demo/unfinished.py": "a command of the operator",
    "authz/rights/checks.py": "asks whether a row exists, to spend the same time on one that does not; nothing of it leaves",
    "authz/rights/governing.py": "superusers govern all rows; it grants no reading of content",
    "knowledge/governance/effective_rights.py": "explains and compares rights for whoever governs the places",
    "business/models.py": MODELS,
    "business/sources/connection_rights.py": "all of them for whoever may say where they are; their content stays where it is",
    "business/sources/services.py": "locks the row of a source whose manager saves its layer",
    "business/layer_drafts.py": "a worker drafts the layer of a source, and locks its row when tables are taken over",
    "business/table_edits.py": "locks the row of a source whose manager edits a table",
    "business/sources/checks.py": "the operator's doctor and commands",
    "business/linking/vectors.py": "a worker embeds the layers of all sources; a search is of the tables that its asker may ask",
    "business/spreadsheets/sources.py": "a worker describes what was published; whoever asks reads the rows under their own rights",
    "business/cleanup.py": "a worker tidies the databases of all sources; no row reaches anybody",
}


@dataclass(frozen=True)
class Facts:
    """What the rules below ask of one file: every rule reads it, and each file is parsed once."""

    uses_unscoped: bool  # as an attribute, a name, or a string for getattr
    backdoors: frozenset[str]  # managers of Django's own that lead past the guard without naming it
    imports: frozenset[str]  # packages, wherever in the file
    words: frozenset[str]  # of its strings, without docstrings and relations
    strings: frozenset[str]  # those that look like the path of a class
    looked_up: frozenset[str]  # first arguments of get_model, import_module and their like
    long_functions: tuple[str, ...]


def sources() -> Iterator[Path]:
    for app in APPS:
        yield from (path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


@cache
def facts() -> dict[str, Facts]:
    """The facts of each source file, by its path below ROOT."""
    return {str(path.relative_to(ROOT)): facts_of(path.read_text(encoding="utf-8")) for path in sources()}


def facts_of(source: str) -> Facts:
    nodes = list(ast.walk(ast.parse(source)))
    quiet = {id(node.body[0].value) for node in nodes if hasattr(node, "body") and is_docstring(node)}
    for call in (node for node in nodes if isinstance(node, ast.Call) and called(node) in RELATIONS):
        quiet |= {id(node) for node in ast.walk(call)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    texts = [str(node.value) for node in constants if id(node) not in quiet]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return Facts(
        uses_unscoped="unscoped" in attributes | names or any(node.value == "unscoped" for node in constants),
        backdoors=frozenset(attributes & {"_base_manager", "_default_manager"}),
        imports=frozenset(imports(nodes)),
        words=frozenset(word for text in texts for word in re.findall(r"\w+", text)),
        strings=frozenset(text for text in texts if CLASS_PATH.match(text)),
        looked_up=frozenset(looked_up(nodes)),
        long_functions=tuple(
            node.name
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION
        ),
    )


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The packages a file imports, wherever it does."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def looked_up(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What calls of get_model, import_module and their like are given as their first argument."""
    lookups = {"get_model", "get_app_config", "get_models", "import_module", "import_string", "__import__"}
    for node in nodes:
        if isinstance(node, ast.Call) and called(node) in lookups:
            yield from (str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def is_docstring(node: ast.AST) -> bool:
    body = getattr(node, "body", None)
    return (
        isinstance(body, list)
        and bool(body)
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
    )


@cache
def tables_of(app: str) -> frozenset[str]:
    models = apps.get_app_config(app).get_models(include_auto_created=True)
    return frozenset(model._meta.db_table for model in models)


def named_above(app: str, found: Facts) -> set[str]:
    """Apps above `app` that strings of the code name: a table of theirs in a statement, or the app where Django looks it up.

    Docstrings may speak of anybody; a relation to another app's model is a string, as the house has it.
    """
    named = {text.partition(".")[0] for text in found.strings | found.looked_up}
    return {name for name in DOWNWARDS[: DOWNWARDS.index(app)] if name in named or found.words & tables_of(name)}


def circles_in(graph: grimp.ImportGraph) -> set[frozenset[str]]:
    """Groups of modules of which each reaches each by imports."""
    reached = {module: graph.find_upstream_modules(module) for module in graph.modules}
    groups = {
        frozenset({module, *(other for other in found if module in reached[other])})
        for module, found in reached.items()
    }
    return {group for group in groups if len(group) > 1}


def circles_among_parts(graph: grimp.ImportGraph) -> set[frozenset[str]]:
    """The same for the parts of each package, its modules and packages: each part is what it is and all below it.

    An import of `tasks` does not count: what is sent to a worker is a message, and its task calls the service that sent it.
    """
    found: set[frozenset[str]] = set()
    for package in [module for module in graph.modules if graph.find_children(module)]:
        parts = grimp.ImportGraph()
        for part in graph.find_children(package):
            parts.add_module(part)
        for importer, imported in imports_within(graph, package):
            if imported.rpartition(".")[2] != "tasks":
                parts.add_import(importer=part_of(package, importer), imported=part_of(package, imported))
        found |= circles_in(parts)
    return found


def imports_within(graph: grimp.ImportGraph, package: str) -> Iterator[tuple[str, str]]:
    """Imports that lead from one part of a package into another."""
    for importer in graph.find_descendants(package):
        for imported in graph.find_modules_directly_imported_by(importer):
            if imported.startswith(f"{package}.") and part_of(package, imported) != part_of(package, importer):
                yield importer, imported


def part_of(package: str, module: str) -> str:
    return f"{package}.{module.removeprefix(f'{package}.').partition('.')[0]}"


def guarded_models() -> list[Any]:
    return [model for model in apps.get_models() if hasattr(model, "reach")]


def test_only_the_listed_files_read_without_a_principal() -> None:
    found = {name for name, fact in facts().items() if fact.uses_unscoped}
    assert found == set(UNSCOPED), "add the file with its reason, or take the entry out"


def test_nobody_goes_round_the_guard_by_another_manager() -> None:
    assert {name: fact.backdoors for name, fact in facts().items() if fact.backdoors} == {}
    assert facts_of("Folder._base_manager.all()").backdoors == {"_base_manager"}


def test_the_reading_of_unscoped_sees_every_way_to_write_it() -> None:
    ways = ("Folder.unscoped.all()", "getattr(Folder, 'unscoped')", "m = unscoped", "x = lambda: F.unscoped")
    assert [source for source in ways if not facts_of(source).uses_unscoped] == []


def test_the_protected_models_are_these() -> None:
    """A model that holds text or names of documents and has no `reach` would be missing here."""
    assert {model.__name__ for model in guarded_models()} == {
        "KnowledgeBase", "Folder", "Document", "DocumentVersion", "Chunk", "ChunkIndex", "ChunkTokens", "DataSource",
        "SavedQuery", "Source", "SourceItem", "GraphEntity", "GraphRelation", "GraphMention", "DocumentField",
        "VerifiedAnswer",
    }  # fmt: skip


def test_a_protected_model_gives_no_row_without_a_principal() -> None:
    methods = ("all", "filter", "get", "count", "first", "exists", "values", "raw", "create")
    for model in guarded_models():
        assert isinstance(model.objects, GuardedManager), model.__name__
        assert [method for method in methods if reads(model, method)] == [], model.__name__


def reads(model: Any, method: str) -> bool:
    try:
        getattr(model.objects, method)(*["SELECT 1"] if method == "raw" else [])
    except (MissingPrincipal, AttributeError):
        return False
    return True


def test_no_other_row_leads_back_to_protected_rows_by_the_guarded_manager() -> None:
    """Django's own checks, cascades and relations use the plain manager: they must neither fail nor guess."""
    for model in guarded_models():
        assert model._meta.default_manager_name == model._meta.base_manager_name == "unscoped", model.__name__
        assert type(model._default_manager) is models.Manager, model.__name__


def test_only_authz_imports_guardian() -> None:
    found = {name for name, fact in facts().items() if "guardian" in fact.imports}
    assert {name.partition("/")[0] for name in found} == {"authz"}


def test_no_string_names_an_app_above() -> None:
    apps_above = {
        name: named_above(app, fact) for name, fact in facts().items() if (app := name.partition("/")[0]) in DOWNWARDS
    }
    assert {name: found for name, found in apps_above.items() if found} == {}


def test_the_reading_of_strings_sees_every_way_to_name_an_app_above() -> None:
    ways = (
        "run('SELECT id FROM knowledge_folder')",
        "run(f'SELECT id FROM {x} JOIN knowledge_folderlink l ON {y}')",
        "apps.get_model('knowledge', 'Folder')",
        "apps.get_model('knowledge.Folder')",
        "import_string('agent.tools.base.find_tool')",
        "model = 'knowledge.Folder'",
    )
    assert [source for source in ways if not named_above("authz", facts_of(source))] == []


def test_the_reading_of_strings_leaves_relations_and_docstrings_alone() -> None:
    source = 'def f():\n    """As `knowledge_folder` has it."""\nx = m.ForeignKey(\'knowledge.Folder\')'
    assert not named_above("authz", facts_of(source))


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*DOWNWARDS, "copilot_site", "copilot_client", "demo", "scripts", cache_dir=None)


def test_no_modules_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    assert circles_in(graph) == set()


def test_no_packages_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    """Modules may hang together without a circle, and still their packages may not be understood one after the other."""
    assert circles_among_parts(graph) == set()


def test_a_circle_of_imports_is_seen() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]:
        graph.add_module(importer)
        graph.add_module(imported)
        graph.add_import(importer=importer, imported=imported)
    assert circles_in(graph) == {frozenset("abc")}


def test_a_circle_of_packages_is_seen() -> None:
    graph = grimp.ImportGraph()
    for module in ("p", "p.a", "p.a.x", "p.a.y", "p.b", "p.b.z", "p.tasks"):
        graph.add_module(module)
    for importer, imported in [("p.a.x", "p.b.z"), ("p.b.z", "p.tasks"), ("p.tasks", "p.b.z")]:
        graph.add_import(importer=importer, imported=imported)
    assert circles_among_parts(graph) == set()
    graph.add_import(importer="p.b.z", imported="p.a.y")
    assert circles_in(graph) == {frozenset({"p.b.z", "p.tasks"})}
    assert circles_among_parts(graph) == {frozenset({"p.a", "p.b"})}


def test_no_file_is_longer_than_a_person_reads() -> None:
    everything = [*sources(), *(ROOT / "tests").rglob("*.py")]
    long = {
        str(path.relative_to(ROOT)): n for path in everything if (n := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_no_function_is_longer_than_a_screen() -> None:
    assert {name: fact.long_functions for name, fact in facts().items() if fact.long_functions} == {}


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
