"""A file storage on trial: a small file is written, read and removed; a failure is reported with its remedy."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage

PROBE = b"probe"
S3_ACTIONS = {"write": "s3:PutObject", "read": "s3:GetObject", "remove": "s3:DeleteObject"}


@dataclass(frozen=True)
class StorageFault:
    """A failure, in English, as operators' tools use. statement: a command, a policy, or a hint."""

    sentence: str
    statement: str


def fault_of(storage: Storage) -> StorageFault | None:
    """Return the fault of the storage; None without one. The trial file is removed again if that is allowed."""
    name = ""

    def write() -> bool:
        nonlocal name
        name = storage.save("doctor-probe", ContentFile(PROBE))
        return True

    def read() -> bool:
        with storage.open(name) as probe:
            return bool(probe.read() == PROBE)

    def remove() -> bool:
        storage.delete(name)
        return True

    steps: dict[str, Callable[[], bool]] = {"write": write, "read": read, "remove": remove}
    for step, act in steps.items():
        try:
            intact = act()
        except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own, and a trial tells them all
            return _fault_of(storage, step, error)
        if not intact:
            return StorageFault(
                "what was written is not what is read", "Check the storage: another writer, or a broken disk."
            )
    return None


def _fault_of(storage: Storage, step: str, error: Exception) -> StorageFault:
    """Return the fault of one step; what S3 answers is in `response`, as botocore has it."""
    answer = getattr(error, "response", None)
    code = str(answer.get("Error", {}).get("Code", "")) if isinstance(answer, dict) else ""
    sentence = f"it may not {step} files: {code or _first_line(error)}"
    bucket = getattr(storage, "bucket_name", "")
    if code in {"AccessDenied", "403"}:
        resource = f"arn:aws:s3:::{bucket}/*"
        return StorageFault(sentence, json.dumps({"Effect": "Allow", "Action": S3_ACTIONS[step], "Resource": resource}))
    if code in {"NoSuchBucket", "404"}:
        return StorageFault(f"there is no bucket {bucket}", f"aws s3 mb s3://{bucket}")
    if isinstance(storage, FileSystemStorage) and isinstance(error, PermissionError):
        return StorageFault(sentence, f"chown -R $(id -un) {storage.location} && chmod -R u+rwX {storage.location}")
    return StorageFault(sentence, "Mend the folder or COPILOT_S3_BUCKET.")


def _first_line(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0][:200]
