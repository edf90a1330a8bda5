"""The business data that a question is about, as its model is told of them with the question."""

from agent.conversations.history import understood
from agent.run import Run
from agent.tools.linked_tables import tables_of
from business.pipeline import Question, nearest, says_of
from business.sources import named_source, open_sources
from knowledge.text.language import language_of


def tables_for(run: Run) -> str:
    """The linked tables of the sources whose words the question says, or which it goes on from; "" where there are none."""
    asked = run.state.input.normalized_query
    earlier = understood(run.principal, run.session_id, before=run.message_id) if run.is_follow_up else None
    stands_on = earlier.statement if earlier else None
    text, sources = named_source(asked, open_sources(run.principal, asked, run.data))
    if earlier is not None and stands_on is not None:
        about = [opened for opened in sources if opened.source.name == stands_on[0]]
        text = f"{earlier.question} {text}"
    else:
        question = Question(text, language_of(text) or run.language, run.earlier_query)
        about = [opened for opened in sources if run.asks_tables_alone or says_of(opened, question)]
        about = nearest(about, question) if about else []
    statement = stands_on[1] if stands_on else ""
    return "\n".join(tables_of(run.principal, opened, text, run.data, statement=statement) for opened in about)
