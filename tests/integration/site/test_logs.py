"""What the log says of slow statements and of services that do not answer, and how long it grows."""

import io
import json
import logging
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
import redis
from django.db import OperationalError, connection
from django_structlog.celery.receivers import CeleryReceiver

from business.connections.address import Address, Tls
from business.connections.postgres_session import connect_to_source
from copilot_site.embedded import process
from copilot_site.embedded.process import rotate_log
from copilot_site.lib import slow_statements
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.logs import format_exception_without_values
from tests.integration.site.test_private_logs import lines
from tests.ports import closed_port

__all__ = ["lines"]
SECRET = "quokkafish"


@pytest.mark.django_db
def test_a_slow_statement_is_told_without_its_values(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", ["quick"])
        monkeypatch.setattr(slow_statements, "SLOW_S", 0.0)
        cursor.execute("SELECT  %s AS asked", [SECRET])
    [line] = [line for line in lines.getvalue().splitlines() if "slow_statement" in line]
    assert "SELECT %s AS asked" in line
    assert "duration_ms=" in line
    newest = slow_statements.list_slow_statements()[0]
    assert newest["statement"] == "SELECT %s AS asked"
    assert SECRET not in lines.getvalue() + json.dumps(slow_statements.list_slow_statements())


def raised(error: Exception, cause: Exception | None = None) -> str:
    """What is written of an error that a library raised, in its line or below."""
    with pytest.raises(type(error)) as found:
        raise error from cause
    written = format_exception_without_values(None, "", {"exc_info": found.value})
    return str(written.get("error") or written["exception"])


def of_postgres(code: str | None) -> psycopg.OperationalError:
    kind = psycopg.errors.lookup(code) if code else psycopg.OperationalError
    error = kind("server closed the connection\nThis probably means …")
    assert isinstance(error, psycopg.OperationalError)
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OperationalError("server closed the connection\nThis probably means …"), of_postgres(None)),
        (redis.ConnectionError("Error 111 connecting to 127.0.0.1:6379. Connection refused."), None),
        (RuntimeError("Retry limit exceeded"), ConnectionRefusedError(111, "Connection refused")),
    ],
)
def test_a_service_that_does_not_answer_is_one_line_with_our_place(error: Exception, cause: Exception | None) -> None:
    said = raised(error, cause)
    assert "\n" not in said
    assert str(error).partition("\n")[0] in said
    assert "tests/integration/site/test_logs.py:" in said


@pytest.mark.parametrize("cause", [of_postgres("40P01"), None])
def test_other_errors_keep_their_traceback(cause: Exception | None) -> None:
    assert "Traceback" in raised(OperationalError("deadlock detected") if cause else RuntimeError("a bug"), cause)


def test_a_data_source_that_cannot_be_reached_is_told(lines: io.StringIO) -> None:
    address = Address(
        host="127.0.0.1", port=closed_port(), database="shop", user="reader", password="x", tls=Tls.DISABLE
    )
    with pytest.raises(CopilotError), connect_to_source(address):
        pass
    [line] = [line for line in lines.getvalue().splitlines() if "data_source.unreachable" in line]
    assert "127.0.0.1" in line


def test_periodic_tasks_that_expired_while_a_worker_was_busy_are_no_lines(lines: io.StringIO) -> None:
    """As Celery's worker and django_structlog write of each, every few seconds."""
    logging.getLogger("celery.worker.request").info("Discarding revoked task: %s[%s]", "agent.reap_runs", "1")
    CeleryReceiver().receiver_task_revoked(SimpleNamespace(id="1", task="agent.reap_runs"), expired=True)
    assert lines.getvalue() == ""
    CeleryReceiver().receiver_task_retry(reason="the control")
    assert "task_retrying" in lines.getvalue()


def test_a_log_grows_to_a_limit_while_its_server_writes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOG_BYTES", 10)
    log = tmp_path / "postgres.log"
    rotate_log(log)
    with log.open("ab", buffering=0) as server:
        server.write(b"0123456789")
        rotate_log(log)
        assert [path.name for path in tmp_path.iterdir()] == ["postgres.log"]
        server.write(b" long")
        rotate_log(log)
        server.write(b"next")
    assert log.read_bytes() == b"next"
    assert (tmp_path / "postgres.log.1").read_bytes() == b"0123456789 long"
