"""What `doctor` says of one thing that a running system needs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked at. mend: what to do when it is not ok. optional: the product runs without it."""

    name: str
    ok: bool
    detail: str
    mend: str = ""
    optional: bool = False
