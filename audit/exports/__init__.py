"""The export formats of the log, one module each."""

from audit.exports.base import FORMATS, ExportFormat, Extract, Placed, Signed
from audit.exports.csv import CSV
from audit.exports.jsonl import JSONL
from audit.exports.ocsf import OCSF

__all__ = ["FORMATS", "ExportFormat", "Extract", "Placed", "Signed"]

for made in (CSV(), CSV(bom=True), JSONL(), OCSF()):
    FORMATS.add(made.name, made)
