"""A worker drafts a semantic layer: how far it is, what could not be read, and what is taken over, table by table."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from business import layer_drafts
from business.connections.address import Address
from business.models import DataSource, LayerDraft
from business.sources.grants import grant
from business.sources.services import save_layer
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff
from tests.sharing import Share

Managed = tuple[DataSource, User]


def make_undescribed(source: DataSource) -> Managed:
    """The shop with a layer of one table, and staff that manages it."""
    kept = next(model for model in source.semantic_layer.semantic_models if model.name == "sale")
    save_layer(None, source, source.semantic_layer.model_copy(update={"semantic_models": (kept,)}))
    person = staff("stew")
    grant(None, source, to=person, right=Right.MANAGE)
    return source, person


@pytest.fixture
def managed(source: DataSource) -> Managed:
    return make_undescribed(source)


@pytest.fixture(scope="module")
def shared_drafted(share: Share, shared_source: Callable[[], DataSource]) -> Callable[[], Managed]:
    def make() -> Managed:
        managed = make_undescribed(shared_source())
        draft(*managed)
        return managed

    return share(make)


@pytest.fixture
def drafted(shared_drafted: Callable[[], Managed], db: None) -> Managed:
    """The same, with a draft of all its tables."""
    return shared_drafted()


def address(source: DataSource, page: str = "draft/") -> str:
    return f"/admin/data-sources/{source.pk}/layer/{page}"


def page(source: DataSource, user: User) -> str:
    answer = client_of(user).get(address(source), headers={"accept-language": "en"})
    assert answer.status_code == 200, answer
    return str(answer.content.decode())


def begun(source: DataSource, user: User) -> LayerDraft:
    """A draft that waits for its worker."""
    answer = client_of(user).post(address(source, ""), {"draft": "1"})
    assert (answer.status_code, answer["Location"]) == (302, address(source))
    return LayerDraft.objects.get(source=source)


def draft(source: DataSource, user: User) -> LayerDraft:
    layer_drafts.run_draft(begun(source, user).attempt)
    return LayerDraft.objects.get(source=source)


def described(source: DataSource) -> dict[str, tuple[str | None, str | None] | None]:
    """The tables of the saved layer, and who reads their rows."""
    saved = DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models
    return {m.name: (m.org_unit.column, m.org_unit.shared_with) if m.org_unit else None for m in saved}


def test_tables_are_taken_over_one_by_one_with_whoever_reads_their_rows(drafted: Managed) -> None:
    source, steward = drafted
    assert described(source).keys() == {"sale"}  # nothing is saved by drafting
    text = page(source, steward)
    assert 'value="customer"' in text
    assert 'value="region"' in text
    assert 'value="sale"' not in text  # what people wrote about it is kept
    chosen = {"take": "customer", "who-customer": "granted", "who-region": "everyone"}
    assert client_of(steward).post(address(source), chosen).status_code == 302
    assert described(source) == {"sale": ("org_unit", None), "customer": (None, "granted")}
    assert 'value="customer"' not in page(source, steward)


def test_all_are_taken_over_and_what_nobody_opened_stays_closed(drafted: Managed) -> None:
    source, steward = drafted
    client = client_of(steward)
    client.post(address(source), {"all": "1"})
    assert described(source) == {"sale": ("org_unit", None), "customer": ("org_unit", None), "region": None}
    assert "Every table of this draft is described." in page(source, steward)
    client.post(address(source), {"discard": "1"})
    assert not LayerDraft.objects.exists()
    assert client.get(address(source))["Location"] == address(source, "")


def test_what_is_ticked_is_taken_over_at_once_with_one_choice_of_who_reads_it(drafted: Managed) -> None:
    source, steward = drafted
    client = client_of(steward)
    nothing = client.post(address(source), {"ticked": "1", "for_all": "everyone"}, follow=True)
    assert "Tick the tables" in nothing.content.decode()
    assert described(source).keys() == {"sale"}
    client.post(address(source), {"ticked": "1", "table": ["customer", "sale"], "for_all": "everyone"})
    assert described(source) == {"sale": ("org_unit", None), "customer": (None, "everyone")}
    client.post(address(source), {"take": "region", "for_all": "everyone"})
    assert described(source)["region"] is None  # beside its own button stood that it is closed


def test_what_is_found_is_taken_over_at_once_and_no_other(drafted: Managed) -> None:
    source, steward = drafted
    client = client_of(steward)
    found = client.get(address(source) + "?q=customer").content.decode()
    assert 'value="customer"' in found
    assert 'value="region"' not in found
    client.post(address(source) + "?q=customer", {"all": "1", "for_all": "granted"})
    assert described(source) == {"sale": ("org_unit", None), "customer": (None, "granted")}


@pytest.mark.parametrize(
    "chosen",
    [
        {"all": "1", "for_all": "column:region_id"},
        {"all": "1", "for_all": "everybody"},
        {"take": "region", "who-region": ""},
        {"take": "region", "who-region": "column:api_token"},
    ],
)
def test_what_cannot_be_chosen_opens_nothing(drafted: Managed, chosen: dict[str, str]) -> None:
    source, steward = drafted
    client_of(steward).post(address(source), chosen)
    assert described(source)["region"] is None


def test_who_does_not_manage_the_source_sees_no_draft(drafted: Managed, northerner: User) -> None:
    source, _steward = drafted
    other = staff("other")
    grant(None, source, to=other)
    for person, status in ((other, 404), (northerner, 302), (make_user("root", is_superuser=True), 200)):
        assert client_of(person).get(address(source)).status_code == status
    assert client_of(other).post(address(source), {"all": "1"}).status_code == 404
    assert described(source).keys() == {"sale"}


@pytest.fixture
def broken(shop: Address, managed: Managed) -> Iterator[None]:
    """A view whose first row can be read, and whose others cannot."""
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW odd AS SELECT id, name, (10 / (id - 3))::text AS part FROM customer WHERE id > 1"
        )
    yield
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute("DROP VIEW odd")


@pytest.mark.usefixtures("broken")
def test_a_table_that_fails_is_told_and_the_rest_is_kept(managed: Managed) -> None:
    row = draft(*managed)
    assert row.unread == [{"table": "public.odd", "why": "division by zero"}]
    text = page(*managed)
    assert "division by zero" in text
    assert 'value="customer"' in text


def test_a_draft_that_was_put_away_writes_nothing_more(managed: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    source, steward = managed
    first = begun(source, steward).attempt
    write = layer_drafts._update_draft

    def put_away(attempt: object, **fields: object) -> None:
        if LayerDraft.objects.filter(attempt=first).exists():
            layer_drafts.discard_draft(Principal.of(steward), source)
            layer_drafts.start_draft(Principal.of(steward), source)
        write(attempt, **fields)  # type: ignore[arg-type]

    monkeypatch.setattr(layer_drafts, "_update_draft", put_away)
    layer_drafts.run_draft(first)
    later = LayerDraft.objects.get(source=source)
    assert (later.is_open, later.count, later.layer) == (True, 0, {})


def test_a_dead_worker_is_told_and_a_lost_message_sent_again(managed: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    attempt = begun(*managed).attempt
    assert begun(*managed).attempt == attempt, "asking again begins no second"
    monkeypatch.setattr(layer_drafts, "_send_draft_task", sent.append)
    layer_drafts.recover_stalled_drafts()
    assert sent == []
    LayerDraft.objects.update(started_at=timezone.now() - timedelta(minutes=2))
    layer_drafts.recover_stalled_drafts()
    assert sent == [attempt]
    LayerDraft.objects.update(alive_at=timezone.now() - timedelta(minutes=11))
    layer_drafts.recover_stalled_drafts()
    assert "Its worker ended too early." in page(*managed)
