"""What is made of figures, as a statement over their statements: shares, changes, averages per thing, the first of each group."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from agent.business.ask.meaning import (
    AveragePer,
    Beside,
    Comparison,
    CountOfGroups,
    Existence,
    Group,
    NotUnderstood,
    Period,
    Question,
    Ratio,
    Share,
    Within,
)
from agent.business.ask.sql.figures import first_rows, model_of_figure, name_of_figure, name_of_group
from agent.business.ask.times.windows import Window
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef
from agent.business.guard.rewrite import literal, quoted

Build = Callable[[Question, Lexicon], str]


def derived_sql(question: Question, lexicon: Lexicon, build: Build) -> str:
    """The statement of a question that makes something of its figures. build: of the questions inside. Raises NotUnderstood."""
    derived, plain = question.derived, replace(question, derived=None)

    def sql(inner: Question) -> str:
        return build(inner, lexicon)

    match derived:
        case Share(whole=whole):
            text = _share(sql(plain), sql(whole)) if whole else _share_of_all(plain, sql)
        case Ratio(over=over):
            text = _ratio(plain, over, sql)
        case Comparison(previous=previous, is_change=is_change):
            text = _comparison(plain, previous, sql, is_change=is_change)
        case Beside(others=others):
            text = _beside([plain, *others], sql)
        case AveragePer():
            figure = quoted(_only_figure(plain))
            text = f"SELECT avg({figure}) AS {quoted('average')} FROM ({sql(plain)}) AS {quoted('each')}"
        case CountOfGroups():
            period = next((quoted(name_of_group(group)) for group in plain.groups if isinstance(group, Period)), "*")
            text = f"SELECT count({period}) AS {quoted('count')} FROM ({sql(plain)}) AS {quoted('found')}"
        case Existence():
            counted = f"count(*) > 0 AS {quoted('exists')}, count(*) AS {quoted('count')}"
            text = f"SELECT {counted} FROM ({sql(plain)}) AS {quoted('found')}"
        case Within(groups=groups):
            text = _within(plain, groups, lexicon, sql)
        case None:
            text = sql(plain)
    return text


def _beside(questions: list[Question], sql: Callable[[Question], str]) -> str:
    figures = [_only_figure(one) for one in questions]
    names = [
        f"{name}_{model_of_figure(one.figures[0])}" if figures.count(name) > 1 else name
        for name, one in zip(figures, questions, strict=True)
    ]
    return _side_by_side(questions, names, sql)


def _only_figure(question: Question) -> str:
    if len(question.figures) != 1:
        raise NotUnderstood("one figure is needed")
    return name_of_figure(question.figures[0])


def _percent(part: str, whole: str) -> str:
    return f"round(CAST(100.0 * {part} / nullif({whole}, 0) AS numeric), 2)"


def _share(part: str, whole: str) -> str:
    inner = f"SELECT coalesce(({part}), 0) AS {quoted('part')}, ({whole}) AS {quoted('whole')}"
    share = _percent(quoted("part"), quoted("whole"))
    return (
        f"SELECT {share} AS {quoted('share')}, {quoted('part')}, {quoted('whole')} FROM ({inner}) AS {quoted('parts')}"
    )


def _ratio(first: Question, second: Question, sql: Callable[[Question], str]) -> str:
    """Both numbers and the first over the second; nothing where the second is none."""
    names = "first", "second"
    one, other = map(quoted, names)
    if first.groups and not second.groups:
        shown = ", ".join(quoted(name_of_group(group)) for group in first.groups)
        inner = f"SELECT *, ({sql(second)}) AS {other} FROM ({sql(first)}) AS {quoted('each')}"
        above = quoted(_only_figure(first))
        return (
            f"SELECT {shown}, CAST({above} AS numeric) / nullif({other}, 0) AS {quoted('ratio')}, {above}, {other} "
            f"FROM ({inner}) AS {quoted('parts')} ORDER BY {quoted('ratio')} DESC NULLS LAST"
        )
    inner = _side_by_side([first, second], names, sql)
    groups = "".join(f"{quoted(name_of_group(group))}, " for group in first.groups)
    order = f" ORDER BY {quoted('ratio')} DESC NULLS LAST, 1" if groups else ""
    divided = f"CAST(coalesce({one}, 0) AS numeric) / nullif({other}, 0) AS {quoted('ratio')}"
    return f"SELECT {groups}{divided}, {one}, {other} FROM ({inner}) AS {quoted('parts')}{order}"


def _share_of_all(question: Question, sql: Callable[[Question], str]) -> str:
    """Each group's part of all groups together; a limit cuts what is shown, not what is added."""
    figure = quoted(_only_figure(question))
    groups = [quoted(name_of_group(group)) for group in question.groups]
    shown = [*groups, figure, f"{_percent(figure, f'sum({figure}) OVER ()')} AS {quoted('share')}"]
    text = f"SELECT {', '.join(shown)} FROM ({sql(replace(question, limit=None, skipped=0))}) AS {quoted('parts')}"
    way = "ASC" if question.is_ascending else "DESC"
    text += f" ORDER BY {figure} {way} NULLS LAST"
    return text + (first_rows(question.limit) if question.limit else ", 1")


def _comparison(current: Question, previous: Question, sql: Callable[[Question], str], *, is_change: bool) -> str:
    now, before = quoted("current"), quoted("previous")
    changes = f"{now} - {before} AS {quoted('change')}, {_percent(f'({now} - {before})', before)} AS {quoted('change_percent')}"
    if current.groups:
        both = _side_by_side([current, previous], ["current", "previous"], sql)
        groups = ", ".join(quoted(name_of_group(group)) for group in current.groups)
        return f"SELECT {groups}, {now}, {before}, {changes} FROM ({both}) AS {quoted('both')} ORDER BY {now} DESC NULLS LAST, 1"
    figure = _only_figure(current)
    if is_change:
        inner = f"SELECT coalesce(({sql(current)}), 0) AS {now}, coalesce(({sql(previous)}), 0) AS {before}"
        return f"SELECT {now}, {before}, {changes} FROM ({inner}) AS {quoted('both')}"
    forwards = sorted((current, previous), key=lambda one: one.times[0].window.start or date.min)
    if any(_is_named_by_question(one.times[0].window) for one in forwards):
        columns = [f"coalesce(({sql(one)}), 0) AS {quoted(_said(one.times[0].window)[:60])}" for one in forwards]
        return f"SELECT {', '.join(columns)}"
    are_years = all(one.times[0].window.unit == "year" for one in forwards)
    rows = []
    for one in forwards:
        said = _said(one.times[0].window)
        period = f"{said if are_years else literal(said)} AS {quoted('period')}"
        rows.append(f"SELECT {period}, coalesce(({sql(one)}), 0) AS {quoted(figure)}")
    return " UNION ALL ".join(rows)


def _is_named_by_question(window: Window) -> bool:
    """Whether a time has no name as a period."""
    return window.start is None or window.unit in (None, "half", "week")


def _said(window: Window) -> str:
    """A time as periods are written; in the words of the question where it is none."""
    start = window.start
    if start is None or _is_named_by_question(window):
        return window.text
    if window.unit == "quarter":
        return f"{start.year}-Q{(start.month + 2) // 3}"
    return {"year": f"{start:%Y}", "month": f"{start:%Y-%m}"}.get(window.unit or "", str(start))


def _side_by_side(questions: Sequence[Question], names: Sequence[str], sql: Callable[[Question], str]) -> str:
    """One figure of each question, in one row; by groups: matched by them, what a question has not is empty."""
    for question in questions:
        _only_figure(question)
    groups = questions[0].groups
    if not groups:
        return f"SELECT {', '.join(f'({sql(q)}) AS {quoted(n)}' for q, n in zip(questions, names, strict=True))}"
    keys = [f"g{n}" for n in range(len(groups))]
    hidden = [f"k{n}" for n, group in enumerate(groups) if isinstance(group, ModelRef)]
    rows = []
    for place, question in enumerate(questions):
        parts = [
            part
            for n, group in enumerate(groups)
            for part in ((f"g{n}", f"k{n}") if isinstance(group, ModelRef) else (f"g{n}",))
        ]
        figures = [quoted("f") if n == place else "CAST(NULL AS numeric)" for n in range(len(questions))]
        columns = [
            *map(quoted, (*keys, *hidden)),
            *(f"{figure} AS {quoted(f'f{n}')}" for n, figure in enumerate(figures)),
        ]
        inner = sql(replace(question, shows_keys=True, limit=None))
        rows.append(
            f"SELECT {', '.join(columns)} FROM ({inner}) AS {quoted(f's{place}')} ({', '.join(map(quoted, (*parts, 'f')))})"
        )
    shown = [f"{quoted(key)} AS {quoted(name_of_group(group))}" for key, group in zip(keys, groups, strict=True)]
    shown += [f"max({quoted(f'f{n}')}) AS {quoted(name)}" for n, name in enumerate(names)]
    by = ", ".join(map(quoted, (*keys, *hidden)))
    order = f" ORDER BY {len(keys) + 1} DESC NULLS LAST, 1"
    return f"SELECT {', '.join(shown)} FROM ({' UNION ALL '.join(rows)}) AS {quoted('merged')} GROUP BY {by}{order}"


def _within(question: Question, outside: tuple[Group, ...], lexicon: Lexicon, sql: Callable[[Question], str]) -> str:
    """The first of each group by a figure, or by a column of what is listed; all that share a place are shown."""
    limit = question.limit or 1
    if question.figures:
        _only_figure(question)
        inner = replace(question, groups=(*outside, *question.groups), limit=None, shows_keys=False)
        names = [name_of_group(group) for group in inner.groups] + [name_of_figure(question.figures[0])]
    else:
        if question.order is None or question.of is None:
            raise NotUnderstood("the first by what")
        own = lexicon.model(question.of).name_dimension
        if own is None:
            raise NotUnderstood(f"{question.of} has no name")
        columns = (
            *(_column_of(group, lexicon) for group in outside),
            DimensionRef(question.of, own.name),
            question.order,
        )
        inner = replace(question, columns=columns, order=None, limit=None)
        names = [name_of_group(group) for group in outside] + [question.of, question.order.dimension]
    if len(set(names)) < len(names):
        raise NotUnderstood("a group within itself")
    places = [quoted(f"c{n}") for n in range(len(names))]
    way = "ASC" if question.is_ascending else "DESC"
    part = ", ".join(places[: len(outside)])
    rank = f"rank() OVER (PARTITION BY {part} ORDER BY {places[-1]} {way} NULLS LAST) AS {quoted('place')}"
    ranked = f"SELECT {', '.join(places)}, {rank} FROM ({sql(inner)}) AS {quoted('each')} ({', '.join(places)})"
    shown = ", ".join(f"{place} AS {quoted(name)}" for place, name in zip(places, names, strict=True))
    return f"SELECT {shown} FROM ({ranked}) AS {quoted('ranked')} WHERE {quoted('place')} <= {limit} ORDER BY 1, {quoted('place')}, 2"


def _column_of(group: Group, lexicon: Lexicon) -> DimensionRef:
    if isinstance(group, DimensionRef):
        return group
    name = lexicon.model(group.model).name_dimension if isinstance(group, ModelRef) else None
    if name is None or not isinstance(group, ModelRef):
        raise NotUnderstood("the first of each what")
    return DimensionRef(group.model, name.name)
