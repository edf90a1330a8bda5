"""PDF and Word files of the web: read like uploads, in the limited reading process, with lower limits."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.connections.web_request import Code, NotRead, WebResponse
from knowledge.parsers.base import ParseLimits, UnreadableFile
from knowledge.parsers.sandbox import parse_in_child

MAX_BYTES = 10_000_000
LIMITS = replace(ParseLimits(), file_bytes=MAX_BYTES, pages=500, cpu_s=8, wall_s=12.0)
NAMES = {  # what each type is called there
    "application/pdf": "page.pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "page.docx",
}


def read(answer: WebResponse) -> tuple[str, str]:
    """Return title and visible text of a file; "" for a scan. Raises NotRead."""
    name = NAMES[answer.type]
    with TemporaryDirectory(prefix="copilot-page-") as folder:
        path = Path(folder) / name
        path.write_bytes(answer.body)
        try:
            document = parse_in_child(path, filename=name, limits=LIMITS)
        except UnreadableFile as error:
            raise NotRead(Code.UNREADABLE, answer.status) from error
    return document.title or "", document.text
