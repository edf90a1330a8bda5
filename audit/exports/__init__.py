"""The export formats of the log, one module each."""

from functools import partial

from audit.exports import csv, jsonl, ocsf
from audit.exports.base import FORMATS, ChainedEntry, ExportFormat, Extract, Signed

__all__ = ["FORMATS", "ChainedEntry", "ExportFormat", "Extract", "Signed"]

for made in (
    ExportFormat("csv", csv.MEDIA_TYPE, "csv", partial(csv.write_csv, bom=False)),
    ExportFormat("csv-bom", csv.MEDIA_TYPE, "csv", partial(csv.write_csv, bom=True)),
    ExportFormat("jsonl", "application/x-ndjson", "jsonl", jsonl.write_jsonl),
    ExportFormat("ocsf", "application/x-ndjson", "ocsf.jsonl", ocsf.write_ocsf),
):
    FORMATS.add(made.name, made)
