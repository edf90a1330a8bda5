"""What a model proposes to call the things of a draft: only what nobody wrote, for a person to accept."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from business.inference.described import TableWords, add_words_to_table
from business.models import DataSource
from business.semantic_layer.yaml_io import read_layer
from tests.integration.agent.modelled import modelled, sent
from tests.modelserver import Request, Step, says, says_json

WORDS = {
    "things": [
        {"name": "", "label_en": "customer", "label_zh": "客户", "synonyms": ["client", "买家"]},
        {"name": "segment", "label_en": "size", "label_zh": "规模", "synonyms": ["since", "company size"]},
        {"name": "customer.since", "label_zh": "注册日期", "description_zh": "成为客户的日期。", "synonyms": None},
        {"name": "turnover", "label_en": "turnover", "label_zh": "营业额"},
    ]
}


def reply(request: Request) -> Step:
    asked = sent(request)
    if "table region:" in asked:
        return says("I would rather not.")
    return says_json(WORDS if "table customer:" in asked else {"things": []})


def described(source: DataSource) -> tuple[str, str]:
    out, told = StringIO(), StringIO()
    with modelled(chooses=reply) as server:
        call_command("describe_datasource", source.name, at_once=2, stdout=out, stderr=told)
        assert "Customer 2" not in "".join(map(sent, server.requests))  # what rows of org units are called
    return out.getvalue(), told.getvalue()


def test_a_model_s_words_are_printed_table_by_table_and_nothing_is_saved(source: DataSource) -> None:
    before = source.semantic_layer
    layer = before.model_copy(update={"semantic_models": before.semantic_models[1:]})
    source.layer = layer.model_dump(mode="json", by_alias=True)
    source.save()
    saved = DataSource.unscoped.get(pk=source.pk).layer
    text, told = described(source)
    customer = next(model for model in read_layer(text).semantic_models if model.name == "customer")
    assert (customer.label.zh, customer.synonyms[-2:]) == ("客户", ("client", "买家"))
    assert {f"{n}/3" for n in (1, 2, 3)} == {line.split()[0] for line in told.splitlines()}
    assert "region: " in told  # what the model did not describe says why
    assert DataSource.unscoped.get(pk=source.pk).layer == saved


def test_what_people_wrote_stays_and_no_word_means_two_columns(source: DataSource) -> None:
    model = next(model for model in source.semantic_layer.semantic_models if model.name == "customer")
    found = add_words_to_table(model, TableWords.model_validate(WORDS))
    segment, since = ({one.name: one for one in found.dimensions}[name] for name in ("segment", "since"))
    assert (segment.label.en, segment.label.zh, segment.synonyms[-1]) == ("size", "规模", "company size")
    assert "since" not in segment.synonyms  # another column is called so
    assert segment.description.en == "how large the company is"  # the comment in the database
    assert (since.label.zh, since.description.zh) == ("注册日期", "成为客户的日期。")
    other = json.loads(json.dumps(WORDS).replace("size", "volume").replace("client", "patron"))
    again = add_words_to_table(found, TableWords.model_validate(other))
    assert (again.label, again.dimensions[0].label) == (found.label, found.dimensions[0].label)
    assert {one.name for one in again.dimensions} == {one.name for one in model.dimensions}


def test_without_a_model_it_says_so(source: DataSource) -> None:
    with pytest.raises(CommandError, match="No language model is configured"):
        call_command("describe_datasource", source.name, stdout=StringIO())
