"""Data sources in the admin: statements on trial, the semantic layer in place, grants per table."""

import re

import yaml
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from audit.actions import Action
from audit.models import Entry
from business.models import DataSource, SourceGrant
from business.semantic_layer.yaml_io import write_yaml
from business.sources.services import save_layer
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff
from tests.large_layer import made_tables

CHECK = "/admin/data-sources/check/"


def checked(user: User, sql: str, *, person: str = "nora", **more: str) -> tuple[int, str]:
    answer = client_of(user).post(CHECK, {"source": "shop", "person": person, "sql": sql, **more})
    return answer.status_code, answer.content.decode()


def test_a_statement_is_judged_as_the_command_does(source: DataSource, northerner: User, root: User) -> None:
    _status, page = checked(root, "SELECT name FROM customer")
    assert "IN (&#x27;North&#x27;)" in page
    assert "<td" not in page  # nothing is run
    status, page = checked(root, "SELECT count(*) AS n FROM customer", execute="on")
    assert status == 200
    assert "Allowed" in page
    assert '<td class="number">75</td>' in page
    _status, page = checked(root, "SELECT api_token FROM customer", execute="on")
    assert "Refused" in page
    assert "api_token" in page
    entry = Entry.objects.filter(action=Action.SQL_CHECKED).latest("pk")
    assert (entry.actor_name, entry.detail["person"]) == ("root", northerner.pk)
    assert set(Entry.objects.filter(action=Action.SQL_EXECUTED).values_list("actor_name", flat=True)) == {"root"}


def test_another_person_s_rows_need_the_right_to_oversee(source: DataSource, northerner: User, steward: User) -> None:
    status, _page = checked(steward, "SELECT name FROM customer", execute="on")
    assert status == 403
    status, _page = checked(steward, "SELECT count(*) FROM customer", person="stew", execute="on")
    assert status == 200
    assert client_of(northerner).get(CHECK).status_code == 302  # no staff


def test_a_wrong_person_is_one_sentence(source: DataSource, root: User) -> None:
    make_user("sam")
    for person, sentence in (
        ("nobody-of-this-name", "There is no person called"),
        ("sam", "There is no data source shop you can query"),
    ):
        status, page = checked(root, "SELECT 1", person=person)
        assert (status, sentence in page) == (400, True)


def layer_page(source: DataSource, user: User, **data: object) -> tuple[int, str]:
    client = client_of(user)
    address = f"/admin/data-sources/{source.pk}/layer/"
    answer = client.post(address, data, follow=True) if data else client.get(address)
    return answer.status_code, answer.content.decode()


def test_a_layer_is_exported_edited_and_imported_in_place(source: DataSource, steward: User) -> None:
    client = client_of(steward)
    text = client.get(f"/admin/data-sources/{source.pk}/layer.yaml").content.decode()
    assert text == write_yaml(source.semantic_layer)
    changed = text.replace("name: shop", "name: shop\ndescription: What we sell", 1)
    file = SimpleUploadedFile("shop.yaml", changed.encode())
    status, page = layer_page(source, steward, file=file)
    assert (status, "Saved: 3 tables." in page) == (200, True)
    assert DataSource.unscoped.get(pk=source.pk).semantic_layer.description == "What we sell"


def test_tables_columns_and_measures_are_told_with_who_reads_their_rows(source: DataSource, steward: User) -> None:
    _status, page = layer_page(source, steward)
    tables = re.findall(r"<details class=\"module layer-table\".*?</details>", page, re.DOTALL)
    told = {re.search("<code>(.*?)</code>", table)[1]: table for table in tables}  # type: ignore[index]
    assert told.keys() == {"public.customer", "public.region", "public.sale"}
    customer = told["public.customer"]
    assert "rows by org_unit" in customer
    assert "closed: no statement about org units" in told["public.region"]
    rows = re.findall(r'<tr><th scope="row"><code>([^<]*)</code></th>(.*?)</tr>', customer, re.DOTALL)
    columns = dict(rows)
    assert columns.keys() >= {"id", "name", "segment", "api_token"}
    assert "forbidden" in columns["api_token"]
    assert "large; small" in columns["segment"]
    assert "count(*)" in customer
    assert "<code>region_code</code> → region" in customer


def test_a_wrong_layer_is_one_sentence_and_nothing_is_saved(source: DataSource, steward: User) -> None:
    renamed = [
        write_yaml(source.semantic_layer).replace("table: customer", f"table: {t}", 1)
        for t in ("custommer", "pg_authid")
    ]
    for data, sentence in (
        ({"text": "name: shop\ncolour: red\n"}, "Line 2: unknown key colour."),
        ({"text": "name: other\n"}, "The file describes the source other, not shop."),
        ({"file": SimpleUploadedFile("shop.yaml", b"\xff\xfe\x00")}, "The file is not UTF-8 text"),
        ({"file": SimpleUploadedFile("shop.yaml", b"#" * 10_000_001)}, "larger than 10 MB"),
        ({"text": renamed[0]}, "The database has no table public.custommer."),
        ({"text": renamed[1]}, "The database has no table public.pg_authid."),
    ):
        status, page = layer_page(source, steward, **data)
        assert (status, sentence in page) == (400, True), sentence
        assert DataSource.unscoped.get(pk=source.pk).layer == source.layer


def test_a_layer_is_saved_with_a_warning_where_the_database_does_not_answer(source: DataSource, steward: User) -> None:
    DataSource.unscoped.filter(pk=source.pk).update(database="not_there")
    text = write_yaml(source.semantic_layer).replace("table: customer", "table: custommer", 1)
    status, page = layer_page(source, steward, text=text)
    assert (status, "these tables were not checked" in page) == (200, True)
    assert "custommer" in {
        model.table for model in DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models
    }


def test_grants_name_a_table_of_the_layer(source: DataSource, root: User) -> None:
    reader = make_user("rita")
    client = client_of(root)
    address = f"/admin/business/datasource/{source.pk}/change/"
    form = client.get(address).context["adminform"].form
    data = {name: form.initial.get(name, "") or "" for name in form.fields} | {
        "is_active": "on", "is_dedicated": "on", "layer_yaml": "", "grants-TOTAL_FORMS": 1, "grants-INITIAL_FORMS": 0,
        "grants-0-table": "sale", "grants-0-user": reader.pk, "grants-0-right": "view",
    }  # fmt: skip
    refused = client.post(address, data | {"grants-0-table": "salt"})
    assert "Select a valid choice" in refused.content.decode()
    assert client.post(address, data).status_code == 302
    assert list(SourceGrant.objects.filter(user=reader).values_list("table", flat=True)) == ["sale"]
    assert Entry.objects.filter(action=Action.GRANT_GIVEN, target_id=str(source.pk), actor_name="root").exists()


def test_tables_are_found_by_name_label_and_column_and_shown_page_by_page(source: DataSource, steward: User) -> None:
    layer = source.semantic_layer
    made = made_tables(60, 4, is_labelled=True)
    source.database = "not_there"  # else tables that are not in it are refused
    save_layer(None, source, layer.model_copy(update={"semantic_models": (*layer.semantic_models, *made)}))
    client, address = client_of(steward), f"/admin/data-sources/{source.pk}/layer/"

    def told(**query: str) -> list[str]:
        page = client.get(address, query).content.decode()
        return re.findall(r"<summary><code>public\.(.*?)</code>", page)

    assert told() == [model.name for model in (*layer.semantic_models, *made)][:50]
    assert told(page="2") == [model.name for model in made][47:]
    assert told(q="REGION_CODE") == ["customer"]
    assert told(q="仓库登记") == ["warehouse_register"]
    assert told(q="nothing of this name") == []
    page = client.get(address).content.decode()
    assert "<textarea" not in page  # of so many tables
    assert "as a whole it goes out and comes in as a file" in page


def table_page(source: DataSource, user: User, name: str, **data: str) -> tuple[int, str]:
    client, address = client_of(user), f"/admin/data-sources/{source.pk}/layer/table/?name={name}"
    answer = client.post(address, data, follow=True) if data else client.get(address)
    return answer.status_code, answer.content.decode()


def given(source: DataSource, user: User, name: str) -> dict[str, str]:
    """What the form of a table holds when it is opened."""
    form = client_of(user).get(f"/admin/data-sources/{source.pk}/layer/table/", {"name": name}).context["form"]
    return dict(form.initial)


def called(text: str, word: str) -> str:
    """A table's text with this synonym and no other."""
    return str(
        yaml.safe_dump(
            {**yaml.safe_load(text), "synonyms": [word]}, allow_unicode=True, sort_keys=False, default_flow_style=None
        )
    )


def test_one_table_is_edited_and_no_other_is_written(source: DataSource, steward: User) -> None:
    DataSource.unscoped.filter(pk=source.pk).update(layer={**source.layer, "description": "as it was stored"})
    before = DataSource.unscoped.get(pk=source.pk).layer
    form = given(source, steward, "customer")
    text = called(form["text"], "client")
    status, page = table_page(source, steward, "customer", text=text, version=form["version"])
    assert (status, "Saved: customer." in page) == (200, True)
    after = DataSource.unscoped.get(pk=source.pk).layer
    changed = [part for part in after["semantic_models"] if part["name"] == "customer"]
    assert changed[0]["synonyms"] == ["client"]
    assert {key: value for key, value in after.items() if key != "semantic_models"} == {
        key: value for key, value in before.items() if key != "semantic_models"
    }
    others = [part for part in after["semantic_models"] if part["name"] != "customer"]
    assert others == [part for part in before["semantic_models"] if part["name"] != "customer"]
    entry = Entry.objects.filter(action=Action.SETTING_CHANGED, actor_name="stew").latest("pk")
    assert entry.detail == {"tables": 3, "table": "customer"}


def test_whoever_saves_second_is_told_and_loses_nothing(source: DataSource, steward: User, root: User) -> None:
    first, second, other = given(source, steward, "sale"), given(source, root, "sale"), given(source, root, "region")
    kept = called(first["text"], "first")
    late = called(second["text"], "second")
    assert table_page(source, steward, "sale", text=kept, version=first["version"])[0] == 200
    status, page = table_page(source, root, "sale", text=late, version=second["version"])
    assert status == 409
    assert "Someone has saved the table sale since you opened it." in page
    assert "synonyms: [second]" in page  # what was typed is still there
    assert table_page(source, root, "region", **other)[0] == 200  # another table is no conflict
    status, _page = table_page(source, root, "sale", text=late, version=second["version"], remove="1")
    assert status == 409
    sale = next(m for m in DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models if m.name == "sale")
    assert sale.synonyms == ("first",)


def test_a_whole_layer_does_not_overwrite_what_was_saved_meanwhile(source: DataSource, steward: User) -> None:
    version = source.changed_at.isoformat()
    form = given(source, steward, "sale")
    kept = called(form["text"], "kept")
    table_page(source, steward, "sale", text=kept, version=form["version"])
    status, page = layer_page(source, steward, text=write_yaml(source.semantic_layer), version=version)
    assert status == 409
    assert "Someone has saved the data source shop since you opened it." in page
    layer = DataSource.unscoped.get(pk=source.pk).semantic_layer
    assert next(m for m in layer.semantic_models if m.name == "sale").synonyms == ("kept",)


def test_a_wrong_table_is_one_sentence_and_nothing_is_saved(source: DataSource, steward: User) -> None:
    version = given(source, steward, "sale")["version"]
    for text, sentence in (
        ("name: sale\ntable: sale\ncolour: red\n", "Line 3: unknown key colour."),
        ("name: sales\ntable: sale\n", "The table is called sale"),
        ("name: sale\ntable: sale\nschema: secret\n", "is in no schema that this data source allows"),
    ):
        status, page = table_page(source, steward, "sale", text=text, version=version)
        assert (status, sentence in page) == (400, True), text
        assert DataSource.unscoped.get(pk=source.pk).layer == source.layer


def test_a_table_is_taken_out_of_the_layer(source: DataSource, steward: User) -> None:
    status, page = table_page(source, steward, "region", **given(source, steward, "region"), remove="1")
    assert (status, "region is no longer in the layer" in page) == (200, True)
    names = [model.name for model in DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models]
    assert names == ["customer", "sale"]
    assert table_page(source, steward, "region")[0] == 404


def test_who_does_not_manage_a_source_finds_no_layer_and_edits_no_table(source: DataSource, steward: User) -> None:
    form, zoe = given(source, steward, "sale"), staff("zoe")
    for what in ("layer/", "layer.yaml"):
        assert client_of(zoe).get(f"/admin/data-sources/{source.pk}/{what}").status_code == 404
    assert table_page(source, zoe, "sale")[0] == 404
    assert table_page(source, zoe, "sale", **form, remove="1")[0] == 404
    assert len(DataSource.unscoped.get(pk=source.pk).semantic_layer.semantic_models) == 3
