"""Make the documents and people of the permissions benchmark. Each document has facts that only it has, and look-alikes around it."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SHARES = {"all": 1.0, "tenth": 0.1, "hundredth": 0.01, "thousandth": 0.001}  # of the documents, by person
_SYLLABLES = ("Bra-Del-Fen-Gor-Hal-Jor-Kes-Lom-Mar-Nev-Ost-Pel-Ros-Sel-Tor-Ulv-Vik-Wes-Zan", "ba-de-fi-ko-la-mo-ne-ri-so-tu",
              "berg-dal-ford-holm-low-mere-ness-rup-stad-wick")  # fmt: skip
_HAN_FIRST = "浔岚澜涪沅漳洮汾渭泾湟潞滦沂淮泗汶沭滁颍"
_HAN_LAST = "岭川溪坪湾塘坞港埠洲"
_KINDS = {
    "en": (
        ("depot", "What is the gate code of the {name} depot?",
         "The {name} depot is open from {hour}:00. Its gate code is {code}. Visitors sign in at the office of hall {hall}."),
        ("supplier", "Under which contract number does the supplier {name} deliver?",
         "{name} delivers on {hour} days' notice. Its contract number is {code}. Complaints go to desk {hall}."),
        ("project", "What is the budget code of project {name}?",
         "Project {name} has {hour} members. Costs are booked on the budget code {code}. It meets in room {hall}."),
    ),
    "zh": (
        ("仓库", "{name}仓库的门禁码是多少？", "{name}仓库每天{hour}点开门。门禁码是 {code}。访客在{hall}号厅登记。"),
        ("供应商", "供应商{name}的合同编号是什么？", "{name}须提前{hour}天订货。合同编号是 {code}。投诉请联系{hall}号窗口。"),
        ("项目", "{name}项目的预算代码是什么？", "{name}项目有{hour}名成员。费用记在预算代码 {code} 上。会议在{hall}号会议室。"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class PermissionsDocument:
    """A document. code: only its text has it; number: only its title has it; question: only it answers it, and names neither."""

    id: str
    language: str
    title: str
    text: str
    question: str
    code: str
    number: str


@dataclass(frozen=True)
class PermissionsWorld:
    """Documents by id, and the ids of the documents that each person may read at the start."""

    documents: Mapping[str, PermissionsDocument]
    people: Mapping[str, frozenset[str]]


def make_permissions_world(count: int, seed: int) -> PermissionsWorld:
    """Make `count` documents, half of them Chinese, and a person for each of SHARES; the same ones for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing
    first, middle, last = [part.split("-") for part in _SYLLABLES]
    names = {"en": _names(first, middle, last, chance), "zh": _names(_HAN_FIRST, ("", *_HAN_FIRST), _HAN_LAST, chance)}
    codes = chance.sample(range(10_000, 100_000), 2 * count)
    documents = {}
    for place in range(count):
        language = "zh" if place % 2 else "en"
        made = _document(
            f"{place:05d}", language, names[language][place // 2], codes[2 * place : 2 * place + 2], chance
        )
        documents[made.id] = made
    order = sorted(documents)
    chance.shuffle(order)
    return PermissionsWorld(
        documents, {person: frozenset(order[: max(1, round(count * share))]) for person, share in SHARES.items()}
    )


def _names(first: Iterable[str], middle: Iterable[str], last: Iterable[str], chance: random.Random) -> list[str]:
    names = sorted({a + b + c for a in first for b in middle for c in last})
    chance.shuffle(names)
    return names


def _document(id_: str, language: str, name: str, codes: Sequence[int], chance: random.Random) -> PermissionsDocument:
    kind, question, text = _KINDS[language][int(id_) // 2 % 3]
    code, number = f"KX-{codes[0]}", f"DF-{codes[1]}"
    filled = text.format(name=name, code=code, hour=chance.randint(5, 20), hall=chance.randint(1, 40))
    title = f"{kind} {number}" if language == "zh" else f"{kind.title()} file {number}"
    return PermissionsDocument(id_, language, title, filled, question.format(name=name), code, number)
