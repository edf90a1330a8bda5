"""The part of a data source that a question is about, as a model is told of it before it writes SQL."""

import html
from collections.abc import Sequence
from datetime import date

from agent.fencing import escaped
from agent.verified_answers.matching import verified_examples
from authz.principal import Principal
from business.data_scope import DataScope
from business.linking.linker import Linker
from business.linking.schema_prompt import schema_prompt
from business.linking.similar import similar
from business.parsing.base import Example
from business.sources import OpenSource


def tables_of(principal: Principal, opened: OpenSource, question: str, scope: DataScope, *, statement: str = "") -> str:
    """The tables of one source that a question is about, with examples of what was asked of it. statement: the SQL that the answer
    before stands on, "" for none.
    """
    examples = verified_examples(principal, opened.source, scope)
    return described(
        opened.linker, question, source=opened.source.name, today=opened.today, examples=examples, statement=statement
    )


def described(
    linker: Linker, question: str, *, source: str, today: date, examples: Sequence[Example] = (), statement: str = ""
) -> str:
    """What of a layer a question is about, fenced for a model."""
    name = html.escape(source)
    blocks = [f'<tables source="{name}" today="{today}">\n{escaped(schema_prompt(linker.link(question)))}\n</tables>']
    blocks += [
        f"<example>\n{escaped(one.question)}\n{escaped(one.sql)}\n</example>" for one in similar(question, examples)
    ]
    blocks += [f'<earlier source="{name}">\n{escaped(statement)}\n</earlier>'] if statement else []
    return "\n".join(blocks)
