"""An answer's meaning in words: what was computed, over which time, with which conditions, by which definition."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from agent.business.ask.meaning import (
    Aggregate,
    AnyOf,
    AveragePer,
    Beside,
    ColumnFilter,
    Comparison,
    CountOfGroups,
    Figure,
    FigureFilter,
    NumberFilter,
    Question,
    Rarer,
    Ratio,
    Rows,
    Share,
    TextFilter,
    TimeFilter,
    ValueFilter,
    YearlyFilter,
)
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef
from agent.business.layer.model import Named, SemanticLayer

_AGGREGATES = {
    "en": {
        "count_distinct": "number of different",
        "sum": "total",
        "avg": "average",
        "min": "lowest",
        "max": "highest",
    },
    "zh": {"count_distinct": "不同数量：", "sum": "总", "avg": "平均", "min": "最低", "max": "最高"},
}


@dataclass(frozen=True)
class Meaning:
    """figure: what the number is, "" for lists. conditions: what was asked for, each in words; window: the
    first of them, those about time, without saying that they are. definitions: from the layer. unit: of the one figure that is
    asked for; counted: what it counts.
    """

    figure: str
    conditions: tuple[str, ...]
    definitions: tuple[str, ...]
    window: tuple[str, ...] = ()
    unit: str = ""
    counted: str = ""


def describe(question: Question, lexicon: Lexicon, language: str) -> Meaning:
    """The meaning of a reading. language: `en`, or one that begins with `zh`."""
    key = "zh" if language.startswith("zh") else "en"
    teller = _Teller(lexicon, key)
    named: list[Named] = [lexicon.measure(f) for f in question.figures if isinstance(f, MeasureRef)]
    named += [lexicon.model(f.model) for f in question.figures if isinstance(f, Rows)]
    named += [lexicon.model(question.of)] if question.of else []
    return Meaning(
        teller.figures(question),
        tuple(teller.conditions(question)),
        tuple(defined(n, key) for n in named if n.description.all()),
        tuple(teller.window(question)),
        *teller.unit(question),
    )


def label(named: Named, language: str) -> str:
    """What a thing is called in a language; its name where the layer has no label."""
    return (named.label.zh if language == "zh" else named.label.en) or named.name.replace("_", " ")


def defined(named: Named, language: str) -> str:
    """A thing and what it means."""
    return f"{label(named, language)}{'：' if language == 'zh' else ': '}{named.description.said(language)}"


_COUNTED = {"zh": "数量", "en": "count"}
_DERIVED = {
    "en": {
        "ratio": "ratio",
        "share": "share (%)", "part": "part", "whole": "whole", "current": "current", "previous": "previous", "change": "change",
        "change_percent": "change (%)", "average": "average", "exists": "exists", "period": "period", "weekday": "weekday (1 = Monday)",
    },
    "zh": {
        "ratio": "比值",
        "share": "占比（%）", "part": "部分", "whole": "总体", "current": "本期", "previous": "对比期", "change": "变化",
        "change_percent": "变化率（%）", "average": "平均", "exists": "是否有", "period": "时间", "weekday": "星期（1 = 星期一）",
    },
}  # fmt: skip
_PERIODS = {"day": "日", "week": "周", "month": "月", "quarter": "季度", "year": "年"}


def column_labels(columns: Sequence[str], layer: SemanticLayer, language: str) -> tuple[str, ...]:
    """What the columns of a result are called in a language; a name that means several things, or none, stays as it is."""
    key = "zh" if language.startswith("zh") else "en"
    said: dict[str, set[str]] = {"count": {_COUNTED[key]}} | {name: {word} for name, word in _DERIVED[key].items()}
    if key == "zh":
        said |= {name: {word} for name, word in _PERIODS.items()}
    for model in layer.semantic_models:
        rows = f"{label(model, key)}数量" if key == "zh" else f"number of {label(model, key)} records"
        said.setdefault(f"count_{model.name}", set()).add(rows)
        for part in (model, *model.measures, *model.dimensions):
            said.setdefault(part.name, set()).add(label(part, key))
        for dimension in model.dimensions:
            said.setdefault(dimension.expr.strip('"'), set()).add(label(dimension, key))
            for agg in _AGGREGATES[key]:
                between = "" if key == "zh" else " "
                told = f"{_AGGREGATES[key][agg]}{between}{label(dimension, key)}"
                said.setdefault(f"{agg}_{dimension.name}"[:60], set()).add(told)
    return tuple(said[name].copy().pop() if len(said.get(name, ())) == 1 else name for name in columns)


_MADE: dict[str, dict[type[object], str]] = {
    "en": {
        Ratio: "ratio of {}",
        Share: "share of {}",
        Comparison: "{}, compared",
        AveragePer: "average {} of each",
        CountOfGroups: "number of groups by {}",
    },
    "zh": {
        Ratio: "{}之比",
        Share: "{}占比",
        Comparison: "{}对比",
        AveragePer: "平均每个的{}",
        CountOfGroups: "按{}计的组数",
    },
}


@dataclass(frozen=True)
class _Teller:
    lexicon: Lexicon
    language: str

    def figures(self, question: Question) -> str:
        """All figures, and what is made of them."""
        beside = question.derived.others if isinstance(question.derived, Beside) else ()
        beside = (question.derived.over,) if isinstance(question.derived, Ratio) else beside
        figures = [figure for one in (question, *beside) for figure in one.figures]
        told = ("、" if self.language == "zh" else ", ").join(map(self.figure, figures))
        return _MADE[self.language].get(type(question.derived), "{}").format(told)

    def figure(self, figure: Figure) -> str:
        if isinstance(figure, Rows):
            name = label(self.lexicon.model(figure.model), self.language)
            return f"{name}数量" if self.language == "zh" else f"number of {name} records"
        if isinstance(figure, Aggregate):
            between = "" if self.language == "zh" else " "
            return f"{_AGGREGATES[self.language].get(figure.agg, figure.agg)}{between}{self._column(figure.of)}"
        return label(self.lexicon.measure(figure), self.language)

    def unit(self, question: Question) -> tuple[str, str]:
        """The unit of the one figure, and what it counts; "" where there is none."""
        if len(question.figures) != 1:
            return "", ""
        match question.figures[0]:
            case Rows(model=model):
                return "", label(self.lexicon.model(model), self.language)
            case Aggregate(agg=agg, of=of):
                return ("", self._column(of)) if agg == "count_distinct" else (self.lexicon.dimension(of).unit, "")
            case measure:
                return self.lexicon.measure(measure).unit, ""

    def window(self, question: Question) -> list[str]:
        told = [self._time(condition) for condition in question.times]
        if isinstance(question.derived, Comparison):
            told += [self._time(condition) for condition in question.derived.previous.times]
        return told

    def conditions(self, question: Question) -> list[str]:
        about = {"zh": "时间：", "en": "time: "}[self.language]
        told = [f"{about}{window}" for window in self.window(question)]
        told += [self._value(condition) for condition in question.values]
        told += [self._number(condition) for condition in question.numbers]
        told += [
            f"{self._column(condition.dimension)} {'≠' if condition.is_not else '='} ∅"
            for condition in question.missing
        ]
        told += [self._other(condition) for condition in question.others]
        told += [self._figure_filter(condition) for condition in question.having]
        missing = {"zh": "没有", "en": "without"}[self.language]
        between = "" if self.language == "zh" else " "
        told += [
            f"{missing}{between}{label(self.lexicon.model(related.model), self.language)}"
            for related in question.related
            if related.is_not
        ]
        return told

    def _other(self, condition: Rarer) -> str:
        if isinstance(condition, ColumnFilter):
            return f"{self._column(condition.dimension)} {condition.sign} {self._column(condition.other)}"
        if isinstance(condition, TextFilter):
            sign = {"contains": "…{}…", "starts": "{}…", "ends": "…{}", "like": "{}"}[condition.where].format(
                condition.text
            )
            return f"{self._column(condition.dimension)} {'≠' if condition.is_not else '='} {sign}"
        if isinstance(condition, AnyOf):
            return {"zh": " 或 ", "en": " or "}[self.language].join(map(self._value, condition.choices))
        if isinstance(condition, YearlyFilter):
            day = f"-{condition.day:02}" if condition.day else ""
            return f"{self._column(condition.dimension)} = …-{condition.month:02}{day}"
        about = {"zh": "星期：", "en": "weekday: "}[self.language]
        return f"{about}{', '.join(map(str, condition.days))}"

    def _column(self, ref: DimensionRef) -> str:
        return label(self.lexicon.dimension(ref), self.language)

    def _time(self, condition: TimeFilter) -> str:
        window = condition.window
        last = window.end - timedelta(days=1) if window.end else None
        if self.language == "zh":
            return f"{window.start or '…'} 至 {last or '今'}"
        return f"{window.start or '…'} to {last or 'now'}"

    def _value(self, condition: ValueFilter) -> str:
        sign = "≠" if condition.is_not else "="
        names = {value.value: value.said(self.language) for value in self.lexicon.dimension(condition.dimension).values}
        told = [names.get(value, value) for value in condition.values]
        return f"{self._column(condition.dimension)} {sign} {', '.join(told)}"

    def _number(self, condition: NumberFilter) -> str:
        if condition.of_average:
            column = self._column(condition.dimension)
            average = f"{_AGGREGATES[self.language]['avg']}{'' if self.language == 'zh' else ' '}{column}"
            return f"{column} {condition.sign} {average}"
        if condition.upper is not None:
            return f"{condition.number:g} ≤ {self._column(condition.dimension)} ≤ {condition.upper:g}"
        return f"{self._column(condition.dimension)} {condition.sign} {condition.number:g}"

    def _figure_filter(self, condition: FigureFilter) -> str:
        return f"{self.figure(condition.figure)} {condition.sign} {condition.number:g}"
