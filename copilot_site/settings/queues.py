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
# s; what is younger than the last checkpoint can be rewritten unseen by whoever rules the database
AUDIT_SIGNED_EVERY_S = 300
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sign audit checkpoint": {
        "task": "audit.sign_checkpoint",
        "schedule": float(AUDIT_SIGNED_EVERY_S),
        "options": {"expires": AUDIT_SIGNED_EVERY_S},
    },
    # s; roles for rights that nobody has do no harm, they only pile up
    "sweep sandboxes": {"task": "business.sweep_sandboxes", "schedule": 3600.0, "options": {"expires": 3600}},
    "heartbeat": {"task": "copilot_site.heartbeat", "schedule": 30.0, "options": {"expires": 30}},
    "reap runs": {"task": "agent.reap_runs", "schedule": 10.0, "options": {"expires": 10}},
    "reap ingestion": {"task": "knowledge.reap_ingestion", "schedule": 15.0, "options": {"expires": 15}},
    "run due sources": {"task": "knowledge.run_due_sources", "schedule": 60.0, "options": {"expires": 60}},
    "send due webhooks": {"task": "knowledge.send_due_webhooks", "schedule": 60.0, "options": {"expires": 60}},
    "tend indexes": {"task": "knowledge.tend_indexes", "schedule": 600.0, "options": {"expires": 600}},
    "tend graphs": {"task": "knowledge.tend_graphs", "schedule": 600.0, "options": {"expires": 600}},
    "throw files away": {"task": "agent.throw_files_away", "schedule": 3600.0, "options": {"expires": 3600}},
    "review verified answers": {
        "task": "agent.review_verified_answers",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "clear sessions": {"task": "authz.clear_sessions", "schedule": 3600.0, "options": {"expires": 3600}},
    "empty trash": {"task": "knowledge.empty_trash", "schedule": 3600.0, "options": {"expires": 3600}},
    "remind of reviews": {"task": "knowledge.remind_of_reviews", "schedule": 3600.0, "options": {"expires": 3600}},
    "tend spreadsheets": {"task": "business.tend_spreadsheets", "schedule": 600.0, "options": {"expires": 600}},
    "tend layer drafts": {"task": "business.tend_layer_drafts", "schedule": 60.0, "options": {"expires": 60}},
    "tend schema vectors": {"task": "business.tend_schema_vectors", "schedule": 600.0, "options": {"expires": 600}},
}
DIRECTORY_SYNC_S = 3600.0  # every account is looked up: a load that a directory bears once an hour
if config.ldap_url:
    CELERY_BEAT_SCHEDULE["sync directory"] = {
        "task": "authz.sync_directory", "schedule": DIRECTORY_SYNC_S, "options": {"expires": DIRECTORY_SYNC_S}
    }  # fmt: skip
# What must not wait behind a worker's long documents goes to `watch`, which every worker serves; the rest may take minutes.
CELERY_TASK_ROUTES = {
    entry["task"]: {"queue": "watch" if entry["schedule"] <= AUDIT_SIGNED_EVERY_S else "maintenance"}
    for entry in CELERY_BEAT_SCHEDULE.values()
}
