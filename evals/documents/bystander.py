"""Measure how long a person's upload waits while an import runs."""

import time
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Self

from django.core.files.base import ContentFile
from django.db import connection

from authz.principal import Principal
from knowledge.models import DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.services.folders import root_folder
from knowledge.services.uploads import upload_document

UPLOAD_EVERY_S = 20.0
POLL_S = 0.1
TEXT = "# Upload {number}\n\nA note of a person who waits for it, number {number}.\n"


@dataclass
class Bystander:
    """Uploads notes from a thread of its own while the block runs.

    base: where the uploads go. waits_s: from each upload of the interactive queue until it answers.
    """

    principal: Principal
    base: KnowledgeBase
    waits_s: list[float] = field(default_factory=list)
    _ended: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._upload)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _upload(self) -> None:
        try:
            while not self._ended.wait(UPLOAD_EVERY_S):
                if wait_s := self._wait_of_one():
                    self.waits_s.append(wait_s)
        finally:
            connection.close()

    def _wait_of_one(self) -> float | None:
        """Upload a note; return the seconds until it answers, None when the import was faster."""
        number = len(self.waits_s)
        began = time.perf_counter()
        upload = upload_document(
            self.principal,
            folder_id=root_folder(self.base).pk,
            filename=f"{number}.md",
            file=ContentFile(TEXT.format(number=number).encode()),
        )
        mine = DocumentVersion.objects.visible_to(self.principal).filter(pk=upload.version.pk)
        finished = mine.filter(parse_status__in=(ParseStatus.COMPLETED, ParseStatus.FAILED))
        while not finished.exists():
            if self._ended.wait(POLL_S):
                return None
        return time.perf_counter() - began
