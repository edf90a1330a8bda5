"""The semantic layer as a YAML file that people edit and keep in version control."""

from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from business.semantic_layer.model import SemanticLayer, SemanticModel
from copilot_site.lib.errors import InvalidInput

MAX_QUOTED = 100  # of a parser's message
DEEPEST = 50
T = TypeVar("T", SemanticLayer, SemanticModel)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml reads a megabyte in a tenth of the time
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read_layer(text: str) -> SemanticLayer:
    """Return the layer of a YAML text. Raises InvalidInput with the line and what would be right."""
    return _parse_part(text, SemanticLayer, "the file must have the keys name and semantic_models")


def read_table(text: str) -> SemanticModel:
    """Return one table of a layer, of a YAML text. Raises InvalidInput like that."""
    return _parse_part(text, SemanticModel, "a table must have the keys name and table")


def write_yaml(part: SemanticLayer | SemanticModel) -> str:
    """Return the YAML text of a layer, or of one table; reading it gives the same."""
    content = part.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return str(yaml.dump(content, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120))


def _parse_part(text: str, kind: type[T], otherwise: str) -> T:
    """Read one text. otherwise: the hint for a text that is not a mapping."""
    try:
        node, content = _parse_nodes(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidInput(f"Line {line}: this is not YAML: {error.problem}.") from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise InvalidInput(f"This is not YAML: {' '.join(str(error).split())}.") from error
    except ValueError as error:  # a date that no calendar has, a number of a hundred thousand digits
        raise InvalidInput(f"A value is none: {str(error)[:MAX_QUOTED]}. Put it in quotes if it is text.") from error
    if not isinstance(content, dict):
        raise InvalidInput(f"Line 1: {otherwise}.")
    try:
        read = kind.model_validate(content)
    except ValidationError as error:
        raise InvalidInput(_format_validation_error(error, node)) from error
    if "\\u0000" in read.model_dump_json():
        raise InvalidInput("A text holds a character that no text has (NUL).")
    return read


def _parse_nodes(text: str) -> tuple[Any, Any]:
    """Return the nodes of a text, and what they hold. What is nested deeper than any layer is refused first: libyaml would crash on it."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise InvalidInput("This is nested too deeply.")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, loader.construct_document(node) if node else None
    finally:
        loader.dispose()


def _format_validation_error(error: ValidationError, node: Any) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    line, where = _locate_path(node, first["loc"])
    if first["type"] == "extra_forbidden":
        return f"Line {line}: unknown key {where}."
    return f"Line {line}: {where}: {first['msg'].removeprefix('Value error, ')}."


def _locate_path(node: Any, path: tuple[int | str, ...]) -> tuple[int, str]:
    """Return the line of the deepest part of a path that is in the file, from 1, and the path in words."""
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
