"""The findings of `doctor` about what a running system needs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. mend: what to do when it is not ok. optional: the product runs without it."""

    name: str
    ok: bool
    detail: str
    mend: str = ""
    optional: bool = False
