"""The part of a data source relevant to a question, described to a model before it writes SQL."""

import html
from collections.abc import Sequence
from datetime import date

from agent.conversations.history import find_earlier_question
from agent.evidence.fencing import escape_document_text
from agent.run_state.run import Run
from agent.verified_answers.matching import list_verified_examples
from authz.principal import Principal
from business.linking.linker import Linker
from business.linking.schema_prompt import build_schema_prompt
from business.parsing.base import Example
from business.pipeline import DataQuestion, count_known_characters, find_matching_sources
from business.sources.data_scope import DataScope
from business.sources.services import OpenSource, open_sources, select_named_source
from business.statements.examples import select_similar_examples
from knowledge.text.language import detect_language


def describe_source_tables(
    principal: Principal, opened: OpenSource, question: str, scope: DataScope, *, statement: str = ""
) -> str:
    """Describe the relevant tables of one source, with examples of questions.

    statement: the SQL of the answer before, "" for none.
    """
    examples = list_verified_examples(principal, opened.source, scope)
    return describe_layer_part(
        opened.linker, question, source=opened.source.name, today=opened.today, examples=examples, statement=statement
    )


def describe_layer_part(
    linker: Linker, question: str, *, source: str, today: date, examples: Sequence[Example] = (), statement: str = ""
) -> str:
    """Describe the relevant part of a layer, fenced for a model."""
    name = html.escape(source)
    blocks = [
        f'<tables source="{name}" today="{today}">\n{escape_document_text(build_schema_prompt(linker.link(question)))}\n</tables>'
    ]
    blocks += [
        f"<example>\n{escape_document_text(one.question)}\n{escape_document_text(one.sql)}\n</example>"
        for one in select_similar_examples(question, examples)
    ]
    blocks += [f'<earlier source="{name}">\n{escape_document_text(statement)}\n</earlier>'] if statement else []
    return "\n".join(blocks)


def describe_run_tables(run: Run) -> str:
    """Describe the linked tables of the sources that the question names or follows up on; "" for none."""
    asked = run.state.input.normalized_query
    earlier = find_earlier_question(run.principal, run.session_id, before=run.message_id) if run.is_follow_up else None
    stands_on = earlier.statement if earlier else None
    text, sources = select_named_source(asked, open_sources(run.principal, asked, run.data))
    if earlier is not None and stands_on is not None:
        about = [opened for opened in sources if opened.source.name == stands_on[0]]
        text = f"{earlier.question} {text}"
    else:
        question = DataQuestion(text, detect_language(text) or run.language, run.earlier_query)
        about = [opened for opened in sources if run.asks_tables_alone or count_known_characters(opened, question)]
        about = find_matching_sources(about, question) if about else []
    statement = stands_on[1] if stands_on else ""
    return "\n".join(
        describe_source_tables(run.principal, opened, text, run.data, statement=statement) for opened in about
    )
