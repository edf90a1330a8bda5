"""Celery: the broker, and the periodic tasks of beat with their queues."""

from typing import Any

from copilot_site.settings.base import HOME, config
from copilot_site.settings.services import REDIS_URL

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_TASK_IGNORE_RESULT = True  # progress and results live on rows
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = True  # a task of a killed worker comes back
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # an idle worker takes what a busy one has not begun
CELERY_WORKER_CONCURRENCY = config.worker_concurrency
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 1_500_000  # KB; replaces a child that a hostile file has blown up
# s; with Celery's own 4 s a busy machine kills each new process before it has begun, and starts the next one
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60
CELERY_DB_REUSE_MAX = 100  # tasks on one connection: a new one costs as much as parsing a page
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # a Valkey whose disk is full refuses every write: wait for it, do not end
# s; only the last resort: leases and the reaper in the database bring work back within seconds
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_BEAT_SCHEDULER = "copilot_site.beat:Schedule"
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME.root / "beat-schedule")
# s; the database's owner can rewrite entries after the last checkpoint unnoticed
AUDIT_SIGNED_EVERY_S = 300
PERIODS_S = {
    "agent.reap_runs": 10, "knowledge.reap_ingestion": 15, "copilot_site.heartbeat": 30,
    "knowledge.run_due_sources": 60, "knowledge.send_due_webhooks": 60, "business.tend_layer_drafts": 60,
    "audit.sign_checkpoint": AUDIT_SIGNED_EVERY_S, "knowledge.tend_indexes": 600, "knowledge.tend_graphs": 600,
    "agent.review_verified_answers": 600, "business.tend_spreadsheets": 600, "business.tend_schema_vectors": 600,
    "business.sweep_sandboxes": 3600,  # roles for rights that nobody has do no harm, they only pile up
    "agent.throw_files_away": 3600, "authz.clear_sessions": 3600, "knowledge.empty_trash": 3600, "knowledge.remind_of_reviews": 3600,
    **({"authz.sync_directory": 3600} if config.ldap_url else {}),  # every account is looked up: a load on a directory
}  # fmt: skip
# Expire a task after its period, so that it does not pile up while all workers are busy.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    task: {"task": task, "schedule": float(every), "options": {"expires": every}} for task, every in PERIODS_S.items()
}
# What must not wait behind a worker's long documents goes to `watch`, which every worker serves; the rest may take minutes.
CELERY_TASK_ROUTES = {
    task: {"queue": "watch" if every <= AUDIT_SIGNED_EVERY_S else "maintenance"} for task, every in PERIODS_S.items()
}
