"""Makes an Office file the same bytes on every build: its zip entries carry no clock and no random order."""

import re
import zipfile
from io import BytesIO
from pathlib import Path

from demo.build.source import Properties

EPOCH = (1980, 1, 1, 0, 0, 0)
STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")


def write_archive(built: BytesIO, properties: Properties, target: Path) -> None:
    """Copy the zip in `built` to `target` with fixed entry times and the document's own date as its time stamps."""
    stamp = rf"\g<1>{properties.date.isoformat()}T09:00:00Z\g<2>".encode()
    with (
        zipfile.ZipFile(built) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as output,
    ):
        for name in sorted(source.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            content = source.read(name)
            if name == "docProps/core.xml":
                content = STAMP.sub(stamp, content)
            output.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
