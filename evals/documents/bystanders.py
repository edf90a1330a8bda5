"""What an import does to others while it runs: the memory its workers take, and how long a person's upload waits beside it."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Self

import psutil
from django.core.files.base import ContentFile
from django.db import connection

from authz.principal import Principal
from evals.documents.processor_time import supervised_pids
from knowledge.models import DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.services.folders import root_folder
from knowledge.services.uploads import upload_document

SAMPLE_S = 5.0  # between two looks at the memory; each costs tens of milliseconds
UPLOAD_EVERY_S = 20.0
POLL_S = 0.1
TEXT = "# Upload {number}\n\nA note of a person who waits for it, number {number}.\n"


@dataclass
class Bystanders:
    """Looks on from threads of its own while the block runs.

    base: where the uploads go. peak_bytes: the largest sum of the workers' own memory, what they share counted once. waits_s: from
    each upload of the interactive queue until it answers.
    """

    principal: Principal
    base: KnowledgeBase
    peak_bytes: int = 0
    waits_s: list[float] = field(default_factory=list)
    _ended: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        self._threads = [Thread(target=self._watch_memory), Thread(target=self._upload)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _watch_memory(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self.peak_bytes = max(self.peak_bytes, _bytes_of_workers())

    def _upload(self) -> None:
        try:
            while not self._ended.wait(UPLOAD_EVERY_S):
                if wait_s := self._seconds_of_one():
                    self.waits_s.append(wait_s)
        finally:
            connection.close()

    def _seconds_of_one(self) -> float | None:
        """From an upload until it answers; None when the import was faster."""
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


def _bytes_of_workers() -> int:
    """Memory of the workers, with their children and parse servers; 0 where they run on another machine."""
    return sum(map(_bytes_of, supervised_pids()))


def _bytes_of(pid: int) -> int:
    """Memory of a worker and of all that it started, what they share counted once; 0 for what is none, or has ended."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)] if "worker" in process.cmdline() else []
    except psutil.Error:
        return 0
    total = 0
    for each in family:
        with suppress(psutil.Error):
            memory = each.memory_full_info()
            total += getattr(memory, "pss", memory.uss)
    return total
