"""Which of several groups: those whose sum is above a number; never all of them where one is asked for."""

from agent.business.ask.meaning import Aggregate, FigureFilter, NotUnderstood, Period, Question
from agent.business.ask.reading.references import References
from agent.business.ask.reading.taken import Filters
from agent.business.ask.words.function_words import Kind


def sums_of_groups(filters: Filters, references: References) -> list[FigureFilter]:
    """“开票金额超过40的是哪几个月”: where no rows are named, the amounts of each group are added up. Raises NotUnderstood."""
    is_sum = (
        len(filters.numbers) == 1 and not filters.having and all(i.kind is not Kind.MODEL for i in references.items)
    )
    if is_sum and not filters.numbers[0].of_average and references.lexicon.is_amount(filters.numbers[0].dimension):
        one = filters.numbers.pop()
        if one.sign == "between":
            raise NotUnderstood("a sum between two numbers")
        filters.having.append(FigureFilter(Aggregate("sum", one.dimension), one.sign, one.number))
    return filters.having


def require_picked(question: Question, filters: Filters, *, is_which: bool, is_ranked: bool) -> None:
    """Raises NotUnderstood where all periods are shown and one is asked for (“最年轻的员工哪年出生”), and for an order of one number."""
    are_all = any(isinstance(group, Period) for group in question.groups) and question.limit is None
    if is_which and are_all and not filters.having:
        raise NotUnderstood("which period")
    if is_ranked and question.figures and not question.groups:
        raise NotUnderstood("an order of one number")
