"""Read the processor time of the whole system of this COPILOT_HOME, which a busy machine does not change."""

import json
import os

import psutil
from django.conf import settings


def system_cpu_s() -> float:
    """Return the seconds that this process, workers, web, PostgreSQL and Valkey of this home used, with their ended children.

    Services that somebody else runs (`DATABASE_URL`) on another machine are not seen.
    """
    root = settings.HOME.root
    pids = {os.getpid(), *supervised_pids()}
    if (root / "services.json").exists():
        services = json.loads((root / "services.json").read_text())
        pids |= {pid for pid in (services["postgres_pid"], services["valkey_pid"]) if pid}
    return sum(_with_children(pid) for pid in pids)


def supervised_pids() -> set[int]:
    """Return the workers, beat and web server that `manage.py up` of this home runs; empty where none runs here."""
    ledger = settings.HOME.root / "processes.json"
    return {int(pid) for pid in json.loads(ledger.read_text())} if ledger.exists() else set()


def _with_children(pid: int) -> float:
    total = 0.0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return total
    for item in family:
        try:
            times = item.cpu_times()
        except psutil.NoSuchProcess:  # ended just now: counted by whoever waited for it
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
