"""The part of a data source relevant to a question, described to a model before it writes SQL."""

import html
from collections.abc import Sequence
from datetime import date

from agent.conversations.history import understood
from agent.evidence.fencing import escaped
from agent.run_state.run import Run
from agent.verified_answers.matching import verified_examples
from authz.principal import Principal
from business.linking.linker import Linker
from business.linking.schema_prompt import schema_prompt
from business.parsing.base import Example
from business.pipeline import DataQuestion, nearest, says_of
from business.sources.data_scope import DataScope
from business.sources.services import OpenSource, named_source, open_sources
from business.statements.examples import similar
from knowledge.text.language import language_of


def tables_of(principal: Principal, opened: OpenSource, question: str, scope: DataScope, *, statement: str = "") -> str:
    """Describe the relevant tables of one source, with examples of questions.

    statement: the SQL of the answer before, "" for none.
    """
    examples = verified_examples(principal, opened.source, scope)
    return described(
        opened.linker, question, source=opened.source.name, today=opened.today, examples=examples, statement=statement
    )


def described(
    linker: Linker, question: str, *, source: str, today: date, examples: Sequence[Example] = (), statement: str = ""
) -> str:
    """Describe the relevant part of a layer, fenced for a model."""
    name = html.escape(source)
    blocks = [f'<tables source="{name}" today="{today}">\n{escaped(schema_prompt(linker.link(question)))}\n</tables>']
    blocks += [
        f"<example>\n{escaped(one.question)}\n{escaped(one.sql)}\n</example>" for one in similar(question, examples)
    ]
    blocks += [f'<earlier source="{name}">\n{escaped(statement)}\n</earlier>'] if statement else []
    return "\n".join(blocks)


def tables_for(run: Run) -> str:
    """Describe the linked tables of the sources that the question names or follows up on; "" for none."""
    asked = run.state.input.normalized_query
    earlier = understood(run.principal, run.session_id, before=run.message_id) if run.is_follow_up else None
    stands_on = earlier.statement if earlier else None
    text, sources = named_source(asked, open_sources(run.principal, asked, run.data))
    if earlier is not None and stands_on is not None:
        about = [opened for opened in sources if opened.source.name == stands_on[0]]
        text = f"{earlier.question} {text}"
    else:
        question = DataQuestion(text, language_of(text) or run.language, run.earlier_query)
        about = [opened for opened in sources if run.asks_tables_alone or says_of(opened, question)]
        about = nearest(about, question) if about else []
    statement = stands_on[1] if stands_on else ""
    return "\n".join(tables_of(run.principal, opened, text, run.data, statement=statement) for opened in about)
