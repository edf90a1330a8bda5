"""Prompt injections in documents: sentences that address the model. They are shown as text, and support nothing."""

import re

from agent.text.sentences import split_sentences
from agent.tool_names import ALIASES, ORDER

_ORDER = re.compile(
    r"\byour\s+(?:final\s+|next\s+|whole\s+)?(?:response|reply|replies|answer|message|output)\b"
    r"|\b(?:in|of|to)\s+(?:the|this)\s+(?:response|reply)\b"
    r"|\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+)*(?:previous|prior|above|earlier|system)\b"
    r"|\b(?:system prompt|as an ai\b|language model,? (?:you|please)|you are now|new instructions?:)"
    r"|你的(?:最终)?(?:回答|回复|答案|输出)|(?:在|请在)(?:回答|回复|答案)(?:中|里)|(?:忽略|无视|忘记)(?:以上|之前|前面|上述|所有)的?(?:所有)?(?:指令|指示|规则|要求|内容)"
    r"|\b(?:to|for) (?:the |any |all )?(?:ai|llm|language model|chatbot|assistant)s?\b|\balways (?:answer|reply|respond|say)\b"
    r"|(?:智能|AI|人工智能)助手|(?:一律|总是|务必|必须|只能)(?:回答|回复)"
    r"|\bas (?:an?|the|your) (?:ai )?assistant\b|\banswer (?:every|any|all) questions?\b"
    r"|系统提示词?|你现在(?:是|处于)|新的?指令|作为(?:AI|人工智能)?助手"
    rf"|\b(?:{'|'.join(sorted({*ORDER, *ALIASES}))})\b",
    re.IGNORECASE,
)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def remove_injections(text: str) -> str:
    """Return the text without sentences that instruct the model, and without hidden comments."""
    plain = _COMMENT.sub(" ", text)
    if not _ORDER.search(plain):
        return plain
    return "\n".join(piece.text for piece in split_sentences(plain) if not _ORDER.search(piece.text))


def find_injections(text: str) -> str:
    """Return the sentences that `remove_injections` removes."""
    if not _ORDER.search(text) and not _COMMENT.search(text):
        return ""
    hidden = "\n".join(_COMMENT.findall(text))
    return "\n".join(
        [hidden, *(piece.text for piece in split_sentences(_COMMENT.sub(" ", text)) if _ORDER.search(piece.text))]
    )
