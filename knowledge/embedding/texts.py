"""What embedders of other people's models do to a text before the model sees it."""

from pathlib import PurePath


def readable(text: str, *, characters: int) -> str:
    """The first `characters` of any string as one that tokenizers and JSON accept: no lone surrogates, no NUL."""
    cut = text[:characters]
    return cut.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", " ")


def prefixes_of(model: str) -> tuple[str, str]:
    """The prefixes of a query and a passage that `model` (name or path) was trained with and does not add by itself.

    Only the E5 family needs them and rarely says so in its files; without them it loses several points of recall.
    """
    words = PurePath(model).name.lower().replace("_", "-").split("-")
    return ("query: ", "passage: ") if "e5" in words and "instruct" not in words else ("", "")
