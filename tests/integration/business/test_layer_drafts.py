"""A worker drafts a semantic layer: how far it is, what could not be read, and what is taken over, table by table."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from business import layer_drafts
from business.address import Address
from business.models import DataSource, LayerDraft
from business.source_grants import grant
from business.sources import save_layer
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff


@pytest.fixture
def steward(source: DataSource) -> User:
    """Staff that manages the source."""
    person = staff("stew")
    grant(None, source, to=person, right=Right.MANAGE)
    return person


@pytest.fixture
def undescribed(source: DataSource) -> DataSource:
    """The shop with a layer of one table."""
    kept = next(model for model in source.semantic_layer.semantic_models if model.name == "sale")
    save_layer(None, source, source.semantic_layer.model_copy(update={"semantic_models": (kept,)}))
    return source


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


def drafted(source: DataSource, user: User) -> LayerDraft:
    layer_drafts.run(begun(source, user).attempt)
    return LayerDraft.objects.get(source=source)


def described(source: DataSource) -> dict[str, tuple[str | None, str | None] | None]:
    """The tables of the saved layer, and who reads their rows."""
    saved = DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models
    return {m.name: (m.org_unit.column, m.org_unit.shared_with) if m.org_unit else None for m in saved}


def test_a_draft_waits_for_a_worker_and_asking_again_begins_no_second(undescribed: DataSource, steward: User) -> None:
    first = begun(undescribed, steward)
    assert begun(undescribed, steward).attempt == first.attempt
    text = page(undescribed, steward)
    assert "data-open" in text
    assert "It begins as soon as other work is done" in text


def test_how_far_it_is_stands_on_the_page_while_it_is_read(
    undescribed: DataSource, steward: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    write = layer_drafts._write

    def looked(attempt: object, **fields: object) -> None:
        write(attempt, **fields)  # type: ignore[arg-type]
        seen.append(page(undescribed, steward))

    monkeypatch.setattr(layer_drafts, "_write", looked)
    drafted(undescribed, steward)
    shown = [text.partition("</progress> ")[2].partition("</p>")[0] for text in seen]
    assert [one.partition(": now ")[2] for one in shown] == [*["customer", "region", "sale"] * 2, ""]
    assert [one.partition(" %")[0] for one in shown[:-1]] == ["0", "17", "33", "50", "67", "83"]
    assert '<div id="run">' in seen[-1]


def test_tables_are_taken_over_one_by_one_with_whoever_reads_their_rows(undescribed: DataSource, steward: User) -> None:
    drafted(undescribed, steward)
    assert described(undescribed).keys() == {"sale"}  # nothing is saved by drafting
    text = page(undescribed, steward)
    assert 'value="customer"' in text
    assert 'value="region"' in text
    assert 'value="sale"' not in text  # what people wrote about it is kept
    chosen = {"take": "customer", "who-customer": "granted", "who-region": "everyone"}
    assert client_of(steward).post(address(undescribed), chosen).status_code == 302
    assert described(undescribed) == {"sale": ("org_unit", None), "customer": (None, "granted")}
    assert 'value="customer"' not in page(undescribed, steward)


def test_all_are_taken_over_and_what_nobody_opened_stays_closed(undescribed: DataSource, steward: User) -> None:
    drafted(undescribed, steward)
    client_of(steward).post(address(undescribed), {"all": "1"})
    assert described(undescribed) == {"sale": ("org_unit", None), "customer": ("org_unit", None), "region": None}
    assert "Every table of this draft is described." in page(undescribed, steward)
    client_of(steward).post(address(undescribed), {"discard": "1"})
    assert not LayerDraft.objects.exists()
    assert client_of(steward).get(address(undescribed))["Location"] == address(undescribed, "")


def test_what_is_ticked_is_taken_over_at_once_with_one_choice_of_who_reads_it(
    undescribed: DataSource, steward: User
) -> None:
    drafted(undescribed, steward)
    client = client_of(steward)
    nothing = client.post(address(undescribed), {"ticked": "1", "for_all": "everyone"}, follow=True)
    assert "Tick the tables" in nothing.content.decode()
    assert described(undescribed).keys() == {"sale"}
    client.post(address(undescribed), {"ticked": "1", "table": ["customer", "sale"], "for_all": "everyone"})
    assert described(undescribed) == {"sale": ("org_unit", None), "customer": (None, "everyone")}
    client.post(address(undescribed), {"take": "region", "for_all": "everyone"})
    assert described(undescribed)["region"] is None  # beside its own button stood that it is closed


def test_what_is_found_is_taken_over_at_once_and_no_other(undescribed: DataSource, steward: User) -> None:
    drafted(undescribed, steward)
    found = client_of(steward).get(address(undescribed) + "?q=customer").content.decode()
    assert 'value="customer"' in found
    assert 'value="region"' not in found
    client_of(steward).post(address(undescribed) + "?q=customer", {"all": "1", "for_all": "granted"})
    assert described(undescribed) == {"sale": ("org_unit", None), "customer": (None, "granted")}


@pytest.mark.parametrize("chosen", ["column:region_id", "everybody"])
def test_what_cannot_be_chosen_for_several_opens_nothing(undescribed: DataSource, steward: User, chosen: str) -> None:
    drafted(undescribed, steward)
    client_of(steward).post(address(undescribed), {"all": "1", "for_all": chosen})
    assert described(undescribed)["region"] is None


@pytest.mark.parametrize("chosen", ["", "column:api_token", "everybody"])
def test_what_cannot_be_chosen_opens_nothing(undescribed: DataSource, steward: User, chosen: str) -> None:
    drafted(undescribed, steward)
    client_of(steward).post(address(undescribed), {"take": "region", "who-region": chosen})
    assert described(undescribed)["region"] is None


@pytest.fixture
def broken(shop: Address, undescribed: DataSource) -> Iterator[None]:
    """A view whose first row can be read, and whose others cannot."""
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW odd AS SELECT id, name, (10 / (id - 3))::text AS part FROM customer WHERE id > 1"
        )
    yield
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute("DROP VIEW odd")


@pytest.mark.usefixtures("broken")
def test_a_table_that_fails_is_told_and_the_rest_is_kept(undescribed: DataSource, steward: User) -> None:
    row = drafted(undescribed, steward)
    assert row.unread == [{"table": "public.odd", "why": "division by zero"}]
    text = page(undescribed, steward)
    assert "division by zero" in text
    assert 'value="customer"' in text


def test_a_database_that_does_not_answer_is_told(undescribed: DataSource, steward: User) -> None:
    attempt = begun(undescribed, steward).attempt
    DataSource.unscoped.filter(pk=undescribed.pk).update(database="not_there")
    layer_drafts.run(attempt)
    assert "The draft ended early:" in page(undescribed, steward)
    assert described(undescribed).keys() == {"sale"}


def test_a_draft_that_was_put_away_writes_nothing_more(
    undescribed: DataSource, steward: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begun(undescribed, steward).attempt
    write = layer_drafts._write

    def put_away(attempt: object, **fields: object) -> None:
        if LayerDraft.objects.filter(attempt=first).exists():
            layer_drafts.discard(Principal.of(steward), undescribed)
            layer_drafts.start(Principal.of(steward), undescribed)
        write(attempt, **fields)  # type: ignore[arg-type]

    monkeypatch.setattr(layer_drafts, "_write", put_away)
    layer_drafts.run(first)
    later = LayerDraft.objects.get(source=undescribed)
    assert (later.is_open, later.count, later.layer) == (True, 0, {})


def test_a_dead_worker_is_told_and_a_lost_message_sent_again(
    undescribed: DataSource, steward: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    attempt = begun(undescribed, steward).attempt
    monkeypatch.setattr(layer_drafts, "_send", sent.append)
    layer_drafts.tend()
    assert sent == []
    LayerDraft.objects.update(started_at=timezone.now() - timedelta(minutes=2))
    layer_drafts.tend()
    assert sent == [attempt]
    LayerDraft.objects.update(alive_at=timezone.now() - timedelta(minutes=11))
    layer_drafts.tend()
    assert "Its worker ended before it did." in page(undescribed, steward)


def test_who_does_not_manage_the_source_sees_no_draft(undescribed: DataSource, steward: User, northerner: User) -> None:
    drafted(undescribed, steward)
    other = staff("other")
    grant(None, undescribed, to=other)
    for person, status in ((other, 404), (northerner, 302), (make_user("root", is_superuser=True), 200)):
        assert client_of(person).get(address(undescribed)).status_code == status
    assert client_of(other).post(address(undescribed), {"all": "1"}).status_code == 404
    assert described(undescribed).keys() == {"sale"}
