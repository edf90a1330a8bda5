"""Phrases that rank: “top 5 products by revenue”, “哪个客户的订单最多”, “customers ranked by revenue”."""

import re

from agent.business.ask.meaning import Aggregate, Figure, NotUnderstood, Period, Question, Rows
from agent.business.ask.reading.clause import Clause
from agent.business.ask.reading.figure_phrases import figure_of
from agent.business.ask.sql.figures import model_of_figure
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, MeasureRef
from agent.business.ask.words.units import stem

_MOST = frozenset(
    ("", "most", "least", "fewest", "最多", "最少", "第一多", "maximum", "minimum", "冠军", "榜首", "垫底")
)
_RANKING = "(?:CM|MC|m)"

_TIMELY = re.compile("(?:most |least )?recent(?:ly)?|newest|latest|earliest|oldest|last|lately|最(?:近|新|早|晚|后).*")


def ranked(clause: Clause) -> Question | None:
    """“Rank customers by revenue”, “customers ranked by revenue”: everyone with their figure."""
    found = re.fullmatch(
        rf"L?(?:O(?P<target>[Mdg])G(?P<figure>{_RANKING})|(?P<ranked>[Mdg])(?:OG?|G)(?P<by>{_RANKING}))(?P<way>[DE]*)",
        clause.row.letters,
    )
    if found is None or clause.is_chinese:
        return None
    name, by = ("target", "figure") if found["target"] else ("ranked", "by")
    figure = figure_of(clause.references, clause.row.items[found.start(by) : found.end(by)])
    target = clause.row.items[found.start(name)]
    return Question(
        figures=(figure,), groups=(clause.group(target),), is_ascending=Kind.ASCENDING.value in found["way"]
    )


def top(clause: Clause, *, is_list: bool, is_asked: bool) -> Question | None:
    """“top 5 products by revenue”, “销售额最高的5个产品”, “which customer has the most orders”."""
    letters = clause.row.letters
    figure = "(?:CM|MC|Cm|mC|[SV]m|m[SV]|[SV]n|n[SV]|m|n|t|M)"
    patterns = [
        rf"L?(?P<top>T)(?P<n>#)?(?P<target>[Mdg])(?:G|[XN])?(?P<figure>{figure})",  # top 5 products by revenue
        r"L?(?P<top>T)(?P<n>#)(?P<way>[XN])(?P<figure>n|m)(?P<target>M)",
    ]
    if clause.is_chinese:
        patterns = [
            rf"L?G?(?P<figure>{figure})(?P<way>[XN])?O?(?P<top>T)?(?P<n>#)?(?P<target>[Md])L?",
            rf"L?(?P<figure>{figure})(?P<way>[XN])(?P<n>#)?(?P<target>g)L?",
            r"L?(?P<way>[XN])(?P<figure>[nt])L?(?P<n>#)?(?P<target>M)L?",
            rf"L(?P<n>#)?(?P<target>[Mdg])(?P<figure>{figure})(?P<way>[XN])",
            rf"(?P<target>[Mdg])(?P<figure>{figure})(?P<way>[XN])(?P<n>#)?L",
            r"L?(?P<way>[XN])(?P<figure>[nt]|m)T(?P<n>#)(?P<target>M)L?",  # 最贵的前5个产品
            r"L(?P<n>#)?(?P<target>M)(?P<way>[XN])(?P<figure>[nt]|m)",  # 哪位员工年纪最大
            r"(?P<target>M)(?P<way>[XN])(?P<figure>[nt]|m)L",  # 产品里最便宜的是哪个
            r"(?P<target>M)L(?P<way>[XN])(?P<figure>[nt])",  # 员工里谁年纪最大
            r"L(?P<n>#)?(?P<target>[Md])(?P<via>M)(?P<figure>m|CM|MC)(?P<way>[XN])",  # 哪个国家的客户带来的销售额最高
            r"(?P<figure>m|CM|MC)(?P<way>[XN])L(?P<n>#)?(?P<target>[Md])(?P<via>M)",
            rf"G?(?P<figure>{figure})(?P<way>[XN])L(?P<n>#)?(?P<target>[Md])",  # 运费最高的是哪张订单
            r"L?(?P<way>[XN])(?P<figure>m)L?(?P<n>#)?(?P<target>[Mdg])L?",  # 最畅销的产品
            rf"G?(?P<figure>{figure})O?(?P<top>T)(?P<n>#)(?P<target>[Md])L?",
            rf"(?P<target>[Md])G?(?P<figure>{figure})O?(?P<top>T)(?P<n>#)L?",
        ]
    else:
        patterns += [
            rf"L?(?P<n>#)?(?P<target>[Mdg])(?P<way>[XN])(?P<figure>{figure})",
            r"L(?P<way>[XN])?(?P<figure>n)(?P<target>M)" if is_list and not is_asked else r"(?!)",
            r"L?(?P<n>#)?(?P<way>[XN])(?P<figure>[nt]|m)(?P<target>M)",
            r"L?(?P<way>[XN])(?P<n>#)(?P<figure>[nt]|m)(?P<target>M)",
            r"L?(?P<n>#)?(?P<target>M)(?P<figure>t)(?P<way>[XN])",
            r"L?(?P<way>[XN])(?P<n>#)?(?P<target>M)(?P<figure>t)",
            r"L?(?P<figure>t)(?P<way>[XN])(?P<n>#)?(?P<target>M)",
            r"L?(?P<n>#)?(?P<way>[XN])(?P<figure>m)(?P<target>[dg])",
            r"L?(?P<n>#)?(?P<way>[XN])(?P<after>#)?(?P<target>[Mdg])G?(?P<figure>[SV]?m|CM)",
            r"L?(?P<n>#)?(?P<target>[Mdg])(?P<figure>m)(?P<way>[XN])",
        ]
    if bare := re.fullmatch(r"L?T(?:#|(?=M))(?P<target>M)L?|(?P<after>M)T#L?", letters):
        _ask_by_what(clause, clause.row.items[bare.start("target" if bare["target"] else "after")])
    for pattern in patterns:
        found = re.fullmatch(pattern, letters)
        if found and (found.groupdict().get("way") or found.groupdict().get("top")):
            return _superlative(clause, found)
    return _top_of_owner(clause, is_list=is_list, is_asked=is_asked)


def _top_of_owner(clause: Clause, *, is_list: bool, is_asked: bool) -> Question | None:
    """“The last 10 orders of German customers”: whose a value is says nothing more, where the ranked rows point there."""
    models = [item for item in clause.row.items if item.kind is Kind.MODEL]
    names = [clause.references.model(item) for item in models]
    joins = Joins(clause.references.lexicon.layer)
    valued = {one.dimension.model for one in clause.filters.values if not one.is_not}
    base = joins.base_for(names) if len(set(names)) > 1 else None
    gone = [item for item, name in zip(models, names, strict=True) if base and name != base and name in valued]
    if not gone:
        return None
    whole = clause.row.items
    clause.row.items = [item for item in whole if not any(item is one for one in gone)]
    question = top(clause, is_list=is_list, is_asked=is_asked)
    if question is None:
        clause.row.items = whole
    return question


def who(clause: Clause) -> Question | None:
    """“Who was hired most recently”: the thing whose time is meant."""
    found = re.fullmatch("L(?:t[XN]|[XN]t)", clause.row.letters)
    if found is None or clause.row.items[0].text.lower() not in ("who", "谁"):
        return None
    column = clause.references.dimension(next(item for item in clause.row.items if item.kind is Kind.TIME))
    return Question(of=column.model, order=column, is_ascending=Kind.MIN.value in clause.row.letters, limit=1)


def _ask_by_what(clause: Clause, item: Item) -> None:
    """“Top 5 products”, without saying by what: the measures that can rank them are the choices. Raises NotUnderstood."""
    lexicon = clause.references.lexicon
    joins, target = Joins(lexicon.layer), clause.references.model(item)
    figures = {
        measure.name: MeasureRef(model.name, measure.name)
        for model in reversed(lexicon.layer.semantic_models)
        for measure in reversed(model.measures)
        if model.name != target and joins.up(model.name, target) is not None
    }
    raise NotUnderstood("the first by which figure", figures=tuple(reversed(figures.values())))


def _is_added(clause: Clause, column: DimensionRef, target: Item, way: Item | None) -> bool:
    """“The countries with the most freight”: all of it there; of the one row with most it would be “the highest”."""
    if way is None or way.text.lower() not in ("most", "the most", "least", "the least") or clause.is_chinese:
        return False
    is_own = target.kind is Kind.MODEL and clause.references.model(target) == column.model
    return not is_own and clause.references.lexicon.is_amount(column)


def _superlative(clause: Clause, found: re.Match[str]) -> Question:
    part = found.groupdict()
    count = next((name for name in ("n", "after") if part.get(name)), None)
    number = clause.row.items[found.start(count)].number if count else None
    target = clause.row.items[found.start("target")]
    is_one = not clause.is_chinese and target.text.lower() == stem(target.text.lower())  # “the top customer”
    are_several = target.kind is Kind.MODEL and target.text.isascii() and target.text.lower().endswith("s")
    if number is None and ((part.get("top") and not is_one) or (are_several and not is_one and not clause.is_chinese)):
        raise NotUnderstood("how many of the first")
    way = clause.row.items[found.start("way")].text.lower().removeprefix("the ") if part.get("way") else ""
    if part["figure"] == "M" and way not in _MOST:
        raise NotUnderstood("the highest of what")  # “the customer with the highest order”: not the most orders
    if part["figure"] not in ("n", "t") and _TIMELY.fullmatch(way):
        raise NotUnderstood("the newest by another figure")
    figure_items = clause.row.items[found.start("figure") : found.end("figure")]
    is_ascending = part.get("way") == Kind.MIN.value
    limit = int(number) if number else 1
    if part["figure"] in ("n", "t"):
        column = clause.references.dimension(figure_items[0])
        if _is_added(clause, column, target, clause.row.items[found.start("way")] if part.get("way") else None):
            return Question(
                figures=(Aggregate("sum", column),),
                groups=(clause.group(target),),
                is_ascending=is_ascending,
                limit=limit,
            )
        model = clause.references.model(target) if target.kind is Kind.MODEL else ""
        if model != column.model and part["figure"] == "t" and limit == 1 and model:
            return _last_of(clause, column, model, is_ascending=is_ascending)
        if model != column.model:
            raise NotUnderstood("a superlative over another table's column")
        return Question(of=model, order=column, is_ascending=is_ascending, limit=limit)
    figure = figure_of(clause.references, figure_items)
    _require_several(clause, figure, target)
    if part.get("via"):
        _require_between(clause, clause.row.items[found.start("via")], target, figure)
    return Question(figures=(figure,), groups=(clause.group(target),), is_ascending=is_ascending, limit=limit)


def _require_several(clause: Clause, figure: Figure, target: Item) -> None:
    """Rows of a table that a thing points to are one for each: nothing to rank by. Raises NotUnderstood."""
    joins = Joins(clause.references.lexicon.layer)
    if not isinstance(figure, Rows) or target.kind is not Kind.MODEL:
        return
    if joins.up(clause.references.model(target), figure.model) is not None:
        raise NotUnderstood("one for each, and ranked by their number")


def _last_of(clause: Clause, column: DimensionRef, model: str, *, is_ascending: bool) -> Question:
    """“最近一次下单的客户”: the last order, beside whose it is."""
    lexicon = clause.references.lexicon
    name = lexicon.model(model).name_dimension
    if name is None or Joins(lexicon.layer).up(column.model, model) is None:
        raise NotUnderstood("a superlative over another table's column")
    also = (DimensionRef(model, name.name),)
    return Question(of=column.model, order=column, is_ascending=is_ascending, limit=1, also=also)


def _require_between(clause: Clause, via: Item, target: Item, figure: Figure) -> None:
    """A thing named on the way from the figure to what it is ranked by says nothing more. Raises NotUnderstood where it is not on it."""
    joins = Joins(clause.references.lexicon.layer)
    start, middle = model_of_figure(figure), clause.references.model(via)
    ref = clause.group(target)
    goal = "" if isinstance(ref, Period) else ref.model
    way = joins.up(start, goal)
    if way is None or middle not in {start, goal, *(step.one for step in way)}:
        raise NotUnderstood("a superlative of rows that are not counted")
