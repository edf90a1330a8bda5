"""Words for what a key makes of another table's rows: `owner_id` of a project names its owner, `support_rep_id` a support rep."""

from collections import defaultdict
from dataclasses import dataclass

from agent.business.ask.words.units import key_of
from agent.business.layer.model import SemanticLayer


@dataclass(frozen=True)
class Role:
    """A row of `target` that one of `holder` points to."""

    holder: str
    target: str


_CHINESE = {
    "owner": "负责人 所有者",
    "manager": "负责人 主管",
    "lead": "负责人",
    "assignee": "负责人 经办人",
    "rep": "负责人 代表",
    "support rep": "客服代表 支持代表 客服",
    "author": "作者",
    "salesperson": "销售员 业务员",
    "supervisor": "主管",
}
_ENGLISH = {"rep": ("agent", "representative"), "owner": ("lead",), "salesperson": ("seller",)}
_ENDINGS = ("_id", "_no", "_key", "_fk")


def roles_of(layer: SemanticLayer) -> dict[tuple[str, ...], tuple[Role, ...]]:
    """By phrase; only of tables that one key alone leads to, so that the join is the role."""
    targets = {model.primary.name: model.name for model in layer.semantic_models if model.primary}
    found: defaultdict[tuple[str, ...], dict[Role, None]] = defaultdict(dict)
    for model in layer.semantic_models:
        foreign = [entity for entity in model.entities if entity.type == "foreign" and entity.name in targets]
        for entity in foreign:
            role = Role(model.name, targets[entity.name])
            is_only = [other.name for other in foreign].count(entity.name) == 1
            if is_only and role.holder != role.target:
                for phrase in _phrases(entity.expr, entity.name):
                    found[key_of(phrase)][role] = None
    return {key: tuple(roles) for key, roles in found.items()}


def _phrases(column: str, entity: str) -> list[str]:
    """What a key column is called, without its ending; nothing where it is only the name of the table."""
    ending = next((ending for ending in _ENDINGS if column.endswith(ending)), "")
    name = column.removesuffix(ending).replace("_", " ")
    if not ending or key_of(name) == key_of(entity.replace("_", " ")):
        return []
    spoken = [name, *(_CHINESE.get(name, "").split())]
    first, _space, last = name.rpartition(" ")
    spoken += [f"{first} {other}".strip() for other in _ENGLISH.get(last, ())]
    return spoken if last == name else [*spoken, last, *(_CHINESE.get(last, "").split())]
