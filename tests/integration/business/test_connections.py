"""A stored password goes to the address that it was stored for, and is said to nobody who has no right to it.

The servers here listen for real and keep what they are sent.
"""

import socket
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from audit.actions import Action
from audit.models import Entry
from business.connections.address import Address, Tls
from business.connections.postgres_session import SourceUnavailable, connect_to_source, open_read_only
from business.models import DataSource
from copilot_site.lib.errors import InvalidInput
from tests.integration.governance.world import client_of
from tests.listening import CLEAR_TEXT, MD5, listening, make_certificate
from tests.waiting import wait_for

SECRET = "a password of the tests"
NAME = "db.copilot.test"


@pytest.fixture
def away(db: None) -> DataSource:
    """A source somewhere else, with a stored password. Nobody may ask it: where nobody answers, that could not be saved."""
    source = DataSource(name="away", host="10.0.0.9", port=5432, database="shop", username="reader", is_active=False)
    source.set_password(SECRET)
    source.save()
    return source


def form(source: DataSource, **changed: Any) -> dict[str, Any]:
    fields = ("name", "engine", "host", "port", "database", "username", "tls")
    inline = {f"grants-{name}": "0" for name in ("TOTAL_FORMS", "INITIAL_FORMS", "MIN_NUM_FORMS", "MAX_NUM_FORMS")}
    return {
        **{name: getattr(source, name) for name in fields},
        "schemas": "public",
        "password": "",
        **inline,
        **changed,
    }


def resolves_to(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """What the machine's name service says of NAME, one answer a question, the last for ever; returns the names asked for."""
    real, asked = socket.getaddrinfo, []

    def answer(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != NAME:
            return real(host, port, *args, **kwargs)
        asked.append(host)
        return real(answers[min(len(asked), len(answers)) - 1], port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


MOVES: list[dict[str, Any]] = [
    {"host": "10.0.0.10"},
    {"port": 5433},
    {"database": "other"},
    {"username": "owner"},
    {"tls": "require"},
]


def test_a_changed_connection_forgets_the_password(away: DataSource, root: User) -> None:
    """Unless one is given with it, or it leads to the same place."""
    client, page = client_of(root), f"/admin/business/datasource/{away.pk}/change/"
    client.post(page, form(away, name="elsewhere"))
    assert DataSource.unscoped.get(name="elsewhere").address.password == SECRET
    for change in MOVES:
        away.save()
        before = away.where
        answer = client.post(page, form(away, **change), follow=True)
        assert "The stored password was for the old address and has been removed" in answer.content.decode(), change
        moved = DataSource.unscoped.get(pk=away.pk)
        assert bytes(moved.encrypted_password) == b""
        assert moved.address.password == ""
        detail = Entry.objects.filter(action=Action.SETTING_CHANGED).latest("pk").detail
        assert detail == {
            "connection": [*change],
            "address_before": before,
            "address": moved.where,
            "password": "emptied",
        }
        assert SECRET not in str(detail)
    client.post(page, form(moved, host="10.0.0.11", password="the new one"))
    assert DataSource.unscoped.get(pk=away.pk).address.password == "the new one"


@pytest.mark.parametrize("change", MOVES, ids=str)
def test_no_way_round_the_service_keeps_the_password(away: DataSource, change: dict[str, Any]) -> None:
    """Written past the service, the row still has the stored password: it opens for the old address alone."""
    DataSource.unscoped.filter(pk=away.pk).update(**change)
    with pytest.raises(InvalidInput, match="enter it again"):
        _ = DataSource.unscoped.get(pk=away.pk).address
    for name, value in change.items():
        setattr(away, name, value)
    away.save()
    with pytest.raises(InvalidInput, match="enter it again"):
        _ = away.address


def test_nothing_is_sent_to_an_address_that_is_not_allowed(away: DataSource, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private",)
    with listening() as listener:
        away.host, away.port, away.tls = "127.0.0.1", listener.port, Tls.DISABLE
        away.set_password(SECRET)
        with pytest.raises(SourceUnavailable, match="COPILOT_OUTGOING_ALLOW"):
            connect_to_source(away.address)
        with pytest.raises(SourceUnavailable, match="COPILOT_OUTGOING_ALLOW"):
            async_to_sync(opened)(away.address)
        assert listener.connections == 0


def test_the_form_says_so_at_once(away: DataSource, root: User, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private",)
    page = f"/admin/business/datasource/{away.pk}/change/"
    client = client_of(root)
    for host in ("169.254.169.254", "10.0.0.1,127.0.0.1", "/var/run/postgresql"):
        answer = client.post(page, form(away, host=host))
        assert answer.status_code == 200, host
        assert "errorlist" in answer.content.decode(), host
    assert DataSource.unscoped.get(pk=away.pk).host == "10.0.0.9"


@pytest.mark.parametrize("tls", [Tls.VERIFY_FULL, Tls.REQUIRE])
def test_a_server_without_tls_is_told_nothing(tls: Tls) -> None:
    with listening() as listener:
        with pytest.raises(SourceUnavailable, match="does not encrypt"):
            connect_to_source(address(listener.port, tls=tls))
        assert listener.connections == 1
        assert SECRET.encode() not in listener.bytes
        assert b"reader" not in listener.bytes, "not even the account's name"


@pytest.mark.parametrize("asks", [CLEAR_TEXT, MD5])
def test_whoever_does_not_prove_its_name_is_not_told_the_password(tmp_path: Path, asks: bytes) -> None:
    for tls, certificate in ((Tls.DISABLE, None), (Tls.REQUIRE, make_certificate(tmp_path, NAME))):
        with listening(asks=asks, certificate=certificate) as listener:
            with pytest.raises(SourceUnavailable, match="scram-sha-256"):
                connect_to_source(address(listener.port, tls=tls))
            assert b"reader" in listener.bytes or certificate
            assert SECRET.encode() not in listener.bytes


def test_without_these_guards_the_same_server_hears_the_password() -> None:
    """The listener hears what is said: libpq's own defaults tell it everything."""
    import psycopg

    with listening() as listener:
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(
                host="127.0.0.1", port=listener.port, user="reader", password=SECRET, dbname="x", connect_timeout=2
            )
        wait_for_bytes(listener, SECRET.encode())


def test_a_certificate_of_another_name_or_authority_ends_it(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves_to(monkeypatch, "127.0.0.1")
    settings.OUTGOING_ALLOW = ("localhost", NAME)
    right, other = make_certificate(tmp_path, NAME), make_certificate(tmp_path, "another.test")
    for presented, trusted in ((other, other), (right, other)):
        settings.DATABASE_CA = trusted
        with listening(certificate=presented) as listener:
            with pytest.raises(SourceUnavailable, match="does not prove its name"):
                connect_to_source(address(listener.port, host=NAME))
            assert SECRET.encode() not in listener.bytes
    settings.DATABASE_CA = right
    with listening(certificate=right) as listener:
        with pytest.raises(SourceUnavailable):  # it asks, and hangs up
            connect_to_source(address(listener.port, host=NAME))
        wait_for_bytes(listener, SECRET.encode())


def test_the_name_is_looked_up_once_and_that_answer_is_connected_to(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second answer of the name service that leads elsewhere (127.0.0.2) is not asked for."""
    settings.OUTGOING_ALLOW = ("127.0.0.1", NAME)
    with listening() as listener:
        for connect in (connect_to_source, async_to_sync(opened)):
            with monkeypatch.context() as patched:
                asked = resolves_to(patched, "127.0.0.1", "127.0.0.2")
                before = listener.connections
                with pytest.raises(SourceUnavailable, match="scram"):
                    connect(address(listener.port, host=NAME, tls=Tls.DISABLE))
                assert asked == [NAME]
                assert listener.connections == before + 1


def test_an_empty_password_is_not_looked_up_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "pgpass"
    kept.write_text(f"*:*:*:*:{SECRET}\n")
    kept.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(kept))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.2")
    with listening() as listener:
        with pytest.raises(SourceUnavailable):
            connect_to_source(address(listener.port, tls=Tls.DISABLE, password=""))
        assert listener.connections == 1
        assert SECRET.encode() not in listener.bytes


def address(port: int, *, host: str = "127.0.0.1", tls: Tls = Tls.VERIFY_FULL, password: str = SECRET) -> Address:
    return Address(host, port, "shop", "reader", password, tls)


async def opened(at: Address) -> None:
    async with open_read_only(at):
        raise AssertionError("nobody answers there")


def wait_for_bytes(listener: Any, wanted: bytes) -> None:
    wait_for(f"{wanted!r} at the listener", lambda: wanted in listener.bytes)
