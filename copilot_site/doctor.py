"""Checks of everything a running system needs, with the fix for what is missing."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core.files.storage import InvalidStorageError, storages
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from redis.backoff import NoBackoff
from redis.retry import Retry

from agent.providers.base import ModelError
from agent.providers.configured import find_served_model, list_model_names, probe_model
from audit.chain.db_owner import find_role_powers, use_owner_role
from audit.chain.keys import KeyUnusable, list_trusted_keys, public_key_of, read_signing_key
from business.sources.checks import check_source, list_all_sources
from copilot_site.check_result import CheckResult
from copilot_site.config import BASE_DIR, load_config
from copilot_site.database_version import find_version_conflict, list_known_migrations, read_applied_migrations
from copilot_site.embedded import services
from copilot_site.embedded.process import ServiceFailed
from copilot_site.lib.confinement.isolation import explain_missing_isolation, find_isolation
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.load.web_process import OTHERS, POOL
from copilot_site.lib.trials import find_mail_fault, find_storage_fault
from copilot_site.lib.version import VERSION
from copilot_site.sign_in_checks import check_company_directory, check_company_sign_ins
from knowledge.dictionary.cedict import DictionaryMissing
from knowledge.dictionary.words import load_dictionary
from knowledge.embedding.base import EmbeddingError, ModelMissing
from knowledge.embedding.model_files import find_intact_model
from knowledge.retrieval.engine import load_engine, load_reranker
from knowledge.retrieval.rerank.base import RerankerUnavailable
from knowledge.retrieval.rerank.cross_encoder import CrossEncoderReranker
from knowledge.services.reindex import count_unindexed_documents, list_outdated_versions

MIN_FREE_BYTES = 2 * 10**9  # the model, the wheel caches and some thousand documents
MIN_POSTGRES = 150_000
MIN_PGVECTOR = (0, 8)  # iterative index scans: without them a filtered search silently returns too few rows
MIN_REDIS = (6, 2)


def report_version() -> CheckResult:
    """Name the version of the product."""
    return CheckResult("Version", True, VERSION)


def check_python() -> CheckResult:
    """Check the interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    return CheckResult(
        "Python", sys.version_info >= (3, 11), version, "Install Python 3.11 or newer and run `make demo`."
    )


def check_packages() -> CheckResult:
    """Check installed versions against requirements/base.txt."""
    wrong = []
    for line in (BASE_DIR / "requirements" / "base.txt").read_text().splitlines():
        if (match := re.match(r"([\w.-]+)==([\w.+!]+)( ;.*)?", line)) is None or match[3]:
            continue  # a line with a marker may be meant for another system
        try:
            installed = metadata.version(match[1])
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != match[2]:
            wrong.append(f"{match[1]} {installed} instead of {match[2]}")
    detail = "; ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "") or "as locked"
    return CheckResult("Packages", not wrong, detail, "Run `make demo`, which installs the locked versions.")


def check_state_folder() -> CheckResult:
    """Check that COPILOT_HOME can be written and has room."""
    root = settings.HOME.root
    mend = "Choose a folder that this user may write with COPILOT_HOME=."
    try:
        settings.HOME.create()
    except OSError as error:
        return CheckResult("State folder", False, f"{root}: {error.strerror}", mend)
    unwritable = [
        str(path) for path in (root, settings.HOME.files, settings.HOME.models) if not os.access(path, os.W_OK)
    ]
    free = shutil.disk_usage(root).free
    if unwritable:
        return CheckResult("State folder", False, f"not writable: {', '.join(unwritable)}", mend)
    room = f"{root}, {free / 1e9:.1f} GB free"
    return CheckResult("State folder", free >= MIN_FREE_BYTES, room, "Make room: 2 GB is the least to work with.")


def check_embedded_services() -> CheckResult:
    """Check that the embedded services start, or external ones are named."""
    config = load_config()
    try:
        with services.hold_services(
            settings.HOME, want_postgres=config.database_url is None, want_valkey=config.redis_url is None
        ):
            addresses = services.build_service_urls(settings.HOME, services.discover_services(settings.HOME))
    except (ServiceFailed, OSError) as error:
        return CheckResult(
            "Embedded services", False, str(error), "Read the log it names, or set DATABASE_URL and REDIS_URL."
        )
    named = {"DATABASE_URL": "PostgreSQL", "REDIS_URL": "Valkey"}
    used = [
        f"{named[name]} on port {urlsplit(url).port}" for name, url in addresses.items() if os.environ.get(name) == url
    ]
    return CheckResult("Embedded services", True, ", ".join(used) or "not used")


def check_postgres(using: BaseDatabaseWrapper | None = None) -> CheckResult:
    """Check that PostgreSQL answers and is new enough. using: another connection than Django's."""
    mend = "Start PostgreSQL 15 or newer and check DATABASE_URL; unset it to use the embedded one."
    try:
        (using or connection).ensure_connection()
    except DatabaseError as error:
        return CheckResult("PostgreSQL", False, str(error).splitlines()[0], mend)
    version = (using or connection).pg_version  # type: ignore[attr-defined]  # of PostgreSQL's alone
    return CheckResult("PostgreSQL", version >= MIN_POSTGRES, f"version {version // 10_000}.{version % 10_000}", mend)


def check_connections() -> CheckResult:
    """Count the web processes that PostgreSQL has connections for; there must be room for ours."""
    name = "Connections"
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('max_connections')::int")
            given = int(cursor.fetchone()[0])
    except DatabaseError as error:
        return CheckResult(name, False, str(error).splitlines()[0], "Mend PostgreSQL first.")
    room = max(0, (given - OTHERS) // POOL)
    held = f"{given}, enough for {room} web processes of {POOL} beside {OTHERS} of others"
    ours = load_config().web_processes
    mend = f"Set max_connections of PostgreSQL to {ours * POOL + OTHERS} or more, or put PgBouncer in between."
    return CheckResult(name, room >= ours, held, mend)


def check_pgvector(using: BaseDatabaseWrapper | None = None) -> CheckResult:
    """Check that the extension vector is installed in the database, or at hand, and new enough. using: another connection than Django's."""
    mend = "Install pgvector 0.8 or newer on the database server, then run `manage.py migrate`."
    try:
        with (using or connection).cursor() as cursor:
            cursor.execute(
                "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"
            )
            row = cursor.fetchone()
    except DatabaseError as error:
        return CheckResult("pgvector", False, str(error).splitlines()[0], "Mend PostgreSQL first.")
    if row is None:
        return CheckResult("pgvector", False, "the database server does not have the extension vector", mend)
    version = str(row[0] or row[1])
    new_enough = tuple(int(part) for part in version.split(".")[:2]) >= MIN_PGVECTOR
    return CheckResult("pgvector", new_enough, version if row[0] else f"{version}, not yet created", mend)


def check_migrations(using: BaseDatabaseWrapper | None = None) -> CheckResult:
    """Check that all migrations are applied. using: another connection than Django's, of the tables' owner."""
    try:
        # the application's role reads nothing of a database that it did not know yet
        with nullcontext() if using else use_owner_role():
            other = find_version_conflict(using)
            missing = sorted(list_known_migrations() - read_applied_migrations(using))
    except DatabaseError as error:
        return CheckResult("Migrations", False, str(error).splitlines()[0], "Mend PostgreSQL first.")
    if other:
        return CheckResult("Migrations", False, other, "Nothing was changed; a new COPILOT_HOME starts empty.")
    names = ", ".join(".".join(migration) for migration in missing[:3])
    detail = f"{len(missing)} missing: {names}" if missing else "all applied"
    return CheckResult("Migrations", not missing, detail, "Run `manage.py migrate`.")


def check_audit_key() -> CheckResult:
    """Check that the key that signs the audit log's checkpoints can be read, by this user alone."""
    try:
        key = public_key_of(read_signing_key())
    except KeyUnusable as error:
        if list_trusted_keys():
            return CheckResult("Audit key", False, str(error), "Until then the audit log grows without signatures.")
        return CheckResult(
            "Audit key", False, "not made yet", "`manage.py up` makes it, or `manage.py audit_key`.", optional=True
        )
    return CheckResult("Audit key", True, f"{key[:16]}…, read by this user alone")


def check_audit_role() -> CheckResult:
    """Check that the role that the processes work under may add to the audit log, and not change it."""
    try:
        role, power = find_role_powers()
    except DatabaseError as error:
        return CheckResult("Audit role", False, str(error).splitlines()[0], "Mend PostgreSQL first.")
    mend = "Give the processes a role of their own: docs/how-to/audit.md, “The role of the database”."
    message = f"{role} {power}: the audit log can be changed" if power else f"{role} may add to the log, not change it"
    return CheckResult("Audit role", not power, message, mend, optional=True)


def check_broker() -> CheckResult:
    """Check that Valkey or Redis answers, is new enough, and never evicts queued work."""
    mend = "Start Redis 6.2 or Valkey and check REDIS_URL; unset it to use the embedded one."
    try:
        once = Retry(NoBackoff(), 0)
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5, protocol=2, retry=once) as client:
            info = client.info()
    except (redis.RedisError, OSError) as error:
        return CheckResult("Valkey or Redis", False, str(error), mend)
    version = str(info.get("valkey_version") or info["redis_version"])
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        return CheckResult(
            "Valkey or Redis", False, f"maxmemory-policy is {policy}", "Set `maxmemory-policy noeviction`."
        )
    new_enough = tuple(int(part) for part in version.split(".")[:2]) >= MIN_REDIS
    return CheckResult("Valkey or Redis", new_enough, version, mend)


def check_embedding_model() -> CheckResult:
    """Check that the bundled model is converted and intact, or that another embedder makes a vector."""
    if settings.EMBEDDER != "bundled":
        named = f"{settings.EMBEDDER}: {settings.EMBEDDER_OPTIONS['model']}"
        try:
            dimensions = len(load_engine().embedder.embed_query("doctor"))
        except EmbeddingError as error:
            return CheckResult(
                "Embedder", False, str(error), "Check COPILOT_EMBEDDER_MODEL and COPILOT_EMBEDDER_BASE_URL."
            )
        return CheckResult("Embedder", True, f"{named}, {dimensions} dimensions")
    try:
        folder = find_intact_model(settings.HOME.models)
    except ModelMissing as error:
        return CheckResult("Embedder", False, str(error), "Run `manage.py prepare_model`.")
    return CheckResult("Embedder", True, f"bundled, {folder.name}, files intact")


def check_reranking() -> CheckResult:
    """Check that the reranker scores a passage; without it the first ranking stands."""
    mend = "Check COPILOT_RERANKER_MODEL; until then hits keep the order they were found in."
    chosen = load_reranker()
    try:
        if isinstance(chosen, CrossEncoderReranker):
            chosen.score("doctor", ["doctor"])
    except RerankerUnavailable as error:
        return CheckResult("Reranker", False, str(error), mend, optional=True)
    return CheckResult("Reranker", True, settings.RERANKER)


def check_word_list() -> CheckResult:
    """Check that the dictionary that answers across languages is indexed; only the bundled embedder needs it."""
    if settings.EMBEDDER != "bundled":
        return CheckResult("Dictionary", True, "not used: answers across languages need the bundled embedder")
    try:
        load_dictionary(settings.HOME.models)
    except DictionaryMissing as error:
        return CheckResult("Dictionary", False, str(error), "Run `manage.py prepare_model`.", optional=True)
    return CheckResult("Dictionary", True, "CC-CEDICT (CC BY-SA 4.0), indexed")


def check_search_index() -> CheckResult:
    """Check that every published document is in the embedding space that the settings name."""
    try:
        lacking = count_unindexed_documents()
    except DatabaseError as error:
        return CheckResult("Index", False, str(error).strip().splitlines()[0], "Mend what is named above first.")
    state = f"{lacking} published documents are not in the current embedding space" if lacking else "complete"
    mend = "Run `manage.py reindex`; until then a search does not find them."
    return CheckResult("Index", not lacking, state, mend)


def check_readings() -> CheckResult:
    """Check that every document was read by the present parsers, under its base's settings."""
    try:
        outdated = list_outdated_versions().count()
    except DatabaseError as error:
        return CheckResult("Readings", False, str(error).strip().splitlines()[0], "Mend what is named above first.")
    message = f"{outdated} versions would be read otherwise today: parsers or settings of their base have changed"
    mend = "Run `manage.py reread`; until then text that nobody sees in them may answer, or text that is seen does not."
    return CheckResult("Readings", not outdated, message if outdated else "by the parsers of today", mend)


def check_file_storage() -> CheckResult:
    """Check that uploaded files can be written, read and removed where the settings say."""
    try:
        storage = storages["default"]
    except InvalidStorageError as error:
        mend = "Install it (`pip install -r requirements/s3.txt`), or unset COPILOT_S3_BUCKET."
        return CheckResult("File storage", False, str(error), mend)
    kind, fault = type(storage).__name__, find_storage_fault(storage)
    if fault:
        return CheckResult("File storage", False, f"{kind}: {fault.sentence}", fault.statement)
    return CheckResult("File storage", True, kind)


def check_mail_server() -> CheckResult:
    """Check that the mail server accepts the account, if one is configured."""
    if not settings.MAIL_IS_SET_UP:
        return CheckResult("Mail", True, "no server is named: no reminders are sent (COPILOT_SMTP_HOST)")
    if fault := find_mail_fault():
        return CheckResult("Mail", False, f"{settings.EMAIL_HOST}: {fault.sentence}", fault.statement, optional=True)
    return CheckResult("Mail", True, f"{settings.EMAIL_HOST} takes mails")


def check_data_sources() -> Iterator[CheckResult]:
    """Check each data source: its server answers, its account has no more rights than needed, its tables exist."""
    try:
        sources = list_all_sources()
    except DatabaseError as error:
        yield CheckResult("Data sources", False, str(error).strip().splitlines()[0], "Mend what is named above first.")
        return
    for source in sources:
        name = f"Data source {source.name}"
        if not source.is_active:
            detail = "switched off" if source.is_embedded or source.host else "switched off: it has no host"
            mend = "Enter the host of its server, then tick “may be asked”: docs/how-to/add-a-data-source.md."
            yield CheckResult(name, False, detail, mend, optional=True)
            continue
        mend = "Mend it, or untick “may be asked”; see docs/how-to/add-a-data-source.md."
        try:
            faults = check_source(source)
        except CopilotError as error:
            yield CheckResult(name, False, str(error), mend)
            continue
        tables = f"{source.database}, {len(source.semantic_layer.semantic_models)} tables"
        detail = " ".join(fault.sentence for fault in faults) or tables
        yield CheckResult(name, not faults, detail, " ".join(fault.statement for fault in faults))


def check_language_models() -> Iterator[CheckResult]:
    """Check that each language model answers a tiny request. The product works without one, too."""
    mend = "Check its address, name and key under “Language models”, or COPILOT_LLM_BASE_URL, _MODEL and _API_KEY."
    try:
        names = list_model_names()
    except DatabaseError as error:
        yield CheckResult(
            "Language models", False, str(error).strip().splitlines()[0], "Mend what is named above first."
        )
        return
    if not names:
        yield CheckResult("Language models", True, "none: answers are quoted from documents")
    for name in names:
        try:
            served = find_served_model(name)
            if served:
                asyncio.run(probe_model(served))
        except (ModelError, CopilotError) as error:
            yield CheckResult(f"Language model {name}", False, str(error), mend, optional=True)
            continue
        yield CheckResult(f"Language model {name}", True, f"{served.model if served else ''} answers")


def check_confinement() -> CheckResult:
    """Check that scripts of skills can be confined; otherwise none is run."""
    found = find_isolation()
    if found is None:
        return CheckResult(
            "Sandbox for scripts",
            False,
            "scripts of skills are refused here",
            explain_missing_isolation(),
            optional=True,
        )
    held = f"namespaces: {found.namespaces}, Landlock: {found.landlock or 'none'}, seccomp"
    return CheckResult("Sandbox for scripts", True, held)


def check_browser() -> CheckResult:
    """Check Chromium and CJK fonts, for the browser tests only."""
    fonts = any(Path("/usr/share/fonts").glob("**/*CJK*")) if Path("/usr/share/fonts").exists() else False
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    detail = f"{found or 'no Chromium'}, {'CJK fonts' if fonts else 'no CJK fonts'}"
    mend = "For the browser tests: apt-get install chromium fonts-noto-cjk."
    return CheckResult("Browser for tests", bool(found and fonts), detail, mend, optional=True)


CHECKS: tuple[Callable[[], CheckResult], ...] = (
    report_version, check_python, check_packages, check_state_folder, check_embedded_services, check_postgres, check_connections,
    check_pgvector, check_migrations, check_audit_key, check_audit_role, check_broker, check_embedding_model, check_reranking,
    check_word_list, check_search_index, check_readings, check_file_storage, check_mail_server, check_company_sign_ins,
    check_company_directory,
)  # fmt: skip


def run_all_checks() -> Iterator[CheckResult]:
    """Yield every finding, in the order in which things depend on each other."""
    for check in CHECKS:
        yield check()
    yield from check_data_sources()
    yield from check_language_models()
    yield check_confinement()
    yield check_browser()
