"""The semantic layer as a YAML file that people edit and keep in version control."""

from typing import Any

import yaml
from pydantic import ValidationError

from agent.business.layer.model import SemanticLayer
from copilot_site.lib.errors import InvalidInput


def read_layer(text: str) -> SemanticLayer:
    """The layer of a YAML text. Raises InvalidInput with the line and what would be right."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidInput(f"Line {line}: this is not YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise InvalidInput(f"This is not YAML: {' '.join(str(error).split())}.") from error
    except RecursionError as error:
        raise InvalidInput("This is nested too deeply.") from error
    if not isinstance(content, dict):
        raise InvalidInput("Line 1: the file must have the keys name and semantic_models.")
    try:
        return SemanticLayer.model_validate(content)
    except ValidationError as error:
        raise InvalidInput(_sentence(error, node)) from error


def write_layer(layer: SemanticLayer) -> str:
    """The YAML text of a layer; reading it gives the same layer."""
    content = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120)


def _sentence(error: ValidationError, node: Any) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    line, where = _place(node, first["loc"])
    if first["type"] == "extra_forbidden":
        return f"Line {line}: unknown key {where}."
    return f"Line {line}: {where}: {first['msg'].removeprefix('Value error, ')}."


def _place(node: Any, path: tuple[int | str, ...]) -> tuple[int, str]:
    """The line of the deepest part of a path that is in the file, from 1, and the path in words."""
    line = node.start_mark.line + 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == step), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line, ".".join(str(step) for step in path) or "the file"
