"""The files of the converted model and the check of their integrity. Reads only; `convert` writes."""

import hashlib
import json
from pathlib import Path

from knowledge.embedding.base import ModelMissing

SPACE = "me5-small-int8-v1"
# Processes map what is large and share it: a model of several files.
MODEL, WEIGHTS = "model.onnx", "weights.bin"
VOCABULARY, PIECES, NUMBERS, SCORES = "tokenizer.json", "pieces.marisa", "numbers.npy", "scores.npy"
FILES = (MODEL, WEIGHTS, VOCABULARY, PIECES, NUMBERS, SCORES)
MANIFEST = "manifest.json"
INPUT, SENTENCE, TOKENS = "input_ids", "sentence", "tokens"  # names in the graph


def find_intact_model(cache_dir: Path) -> Path:
    """Return the folder of the intact model. Raises ModelMissing with the reason; changes nothing."""
    folder = cache_dir / SPACE
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        expected: dict[str, str] = manifest["sha256"]
        changed = [name for name in FILES if compute_sha256(folder / name) != expected[name]]
    except FileNotFoundError as error:
        missing = "has not been prepared yet" if not folder.exists() else f"lacks {Path(error.filename).name}"
        raise ModelMissing(f"The bundled embedding model in {folder} {missing}.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelMissing(f"The bundled embedding model in {folder} has an unreadable manifest.") from error
    if changed:
        raise ModelMissing(f"The bundled embedding model in {folder} is damaged: {', '.join(changed)} has changed.")
    return folder


def compute_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
