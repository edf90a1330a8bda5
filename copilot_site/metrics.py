"""`/metrics` in Prometheus' text format, for whoever sends the token that `manage.py metrics_token` prints.

Any web process answers for the whole installation: counts are added up in Valkey (`copilot_site.lib.measures`), the rest is read
from the database and Valkey at each scrape. What does not answer is missing, and `copilot_up` says so.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import accumulate
from typing import Final

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from redis import Redis, RedisError

from audit.selectors import find_signing_state
from copilot_site.celery import HEARTBEAT_KEY
from copilot_site.health import open_own_connection
from copilot_site.lib.measures import COUNTS, HISTOGRAMS, Durations, read_counts
from knowledge.gauges import count_unfinished_versions, iterate_source_readings
from knowledge.models import ParseStatus

log = structlog.get_logger(__name__)

QUEUES: Final = ("interactive", "bulk", "maintenance", "watch")
STATEMENT_MS: Final = 3_000  # of one statement; a scrape has 10 s
GAUGES: Final = {  # name: what it says, its labels
    "copilot_up": ("Whether the database and Valkey answered this scrape.", ("part",)),
    "copilot_queue_messages": ("Tasks that wait in Valkey.", ("queue",)),
    "copilot_beat_age_seconds": ("Since the last heartbeat of beat through a worker.", ()),
    "copilot_ingestion_versions": ("Versions of documents that wait, are in work or failed.", ("queue", "status")),
    "copilot_queue_oldest_seconds": ("Age of the version that waits longest.", ("queue",)),
    "copilot_source_age_seconds": ("Since a source of documents was last read without a failure.", ("source",)),
    "copilot_audit_entries": ("Entries of the audit log.", ()),
    "copilot_audit_unsigned_seconds": ("By how much signing the audit log is overdue.", ()),
    "copilot_database_connections": ("Connections to the database of this site.", ("state",)),
    "copilot_database_connections_max": ("Connections that the database takes.", ()),
    "copilot_disk_free_bytes": ("Free space where COPILOT_HOME is.", ()),
}
Sample = tuple[str, tuple[str, ...], float]


def derive_metrics_token() -> str:
    """Return the token of Prometheus: made from the secret key, so that all processes know it; a new key makes a new one."""
    return salted_hmac("copilot.metrics", "token", algorithm="sha256").hexdigest()


def render_metrics(request: HttpRequest) -> HttpResponse:
    """Return all metrics; 401 without the token."""
    sent = request.headers.get("Authorization", "")
    if not constant_time_compare(sent, f"Bearer {derive_metrics_token()}"):
        refusal = "Send the token that `manage.py metrics_token` prints, as “Authorization: Bearer …”.\n"
        return HttpResponse(refusal, status=401, content_type="text/plain", headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(generate_latest(_Site()), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Site:
    """A registry for Prometheus' library: it collects the metrics of the site."""

    def collect(self) -> Iterator[Metric]:
        gauges = {name: GaugeMetricFamily(name, about, labels=labels) for name, (about, labels) in GAUGES.items()}
        counts: dict[tuple[str, ...], float] = {}

        def read(part: str, look: Callable[[], Iterator[Sample]]) -> None:
            try:
                for name, values, amount in look():
                    gauges[name].add_metric(values, amount)
            except (DatabaseError, RedisError) as error:
                log.warning("metrics.unreachable", part=part, why=type(error).__name__)
                gauges["copilot_up"].add_metric((part,), 0)
            else:
                gauges["copilot_up"].add_metric((part,), 1)

        def valkey() -> Iterator[Sample]:
            counts.update(read_counts())
            yield from _read_valkey_samples()

        read("valkey", valkey)
        read("database", _read_database_samples)
        gauges["copilot_disk_free_bytes"].add_metric((), shutil.disk_usage(settings.HOME.root).free)
        yield from gauges.values()
        for count in COUNTS:
            family = CounterMetricFamily(count.name, count.about, labels=count.labels)
            for (name, *values), amount in counts.items():
                if name == count.name:
                    family.add_metric(values, amount)
            yield family
        yield from (_build_histogram(histogram, counts) for histogram in HISTOGRAMS)


def _build_histogram(durations: Durations, counts: dict[tuple[str, ...], float]) -> Metric:
    family = HistogramMetricFamily(durations.name, durations.about, labels=durations.labels)
    for values in sorted({tuple(values) for name, *values, _bucket in counts if name == durations.name}):
        own = (durations.name, *values)
        bounds = [*map(str, durations.bounds), "+Inf"]
        amounts = accumulate(counts.get((*own, bound), 0.0) for bound in bounds)
        family.add_metric(values, list(zip(bounds, amounts, strict=True)), counts.get((*own, "sum"), 0.0))
    return family


def _read_valkey_samples() -> Iterator[Sample]:
    with Redis.from_url(settings.REDIS_URL, protocol=2, socket_timeout=2) as valkey:
        for queue in QUEUES:
            yield "copilot_queue_messages", (queue,), float(valkey.llen(queue))
    if beat_at := cache.get(HEARTBEAT_KEY):
        yield "copilot_beat_age_seconds", (), time.time() - beat_at


def _read_database_samples() -> Iterator[Sample]:
    with open_own_connection(), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(STATEMENT_MS)])
            cursor.execute(
                "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1"
            )
            for state, count in cursor.fetchall():
                yield "copilot_database_connections", (state,), count
            cursor.execute("SELECT current_setting('max_connections')::int")
            yield "copilot_database_connections_max", (), cursor.fetchone()[0]
        for row in count_unfinished_versions():
            yield "copilot_ingestion_versions", (row.queue, row.status.value), row.count
            if row.status is ParseStatus.PENDING:
                yield "copilot_queue_oldest_seconds", (row.queue,), _compute_seconds_since(row.oldest)
        for name, read_at in iterate_source_readings():
            yield "copilot_source_age_seconds", (name,), _compute_seconds_since(read_at)
        log_ends = find_signing_state()
        yield "copilot_audit_entries", (), log_ends.head.seq if log_ends.head else 0
        yield "copilot_audit_unsigned_seconds", (), _compute_seconds_since(log_ends.due_at) if log_ends.due_at else 0


def _compute_seconds_since(moment: datetime) -> float:
    return max(0.0, (timezone.now() - moment).total_seconds())
