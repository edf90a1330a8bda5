"""Ten writers in a process of their own: `python -m tests.integration.audit.writers SEED` until its input ends.

Each transaction writes one to three entries and commits or rolls back by chance. What is committed is printed, one marker a line.
"""

import os
import random
import sys
import threading

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")

WRITERS = 10


def write(seed: str, over: threading.Event, out: threading.Lock) -> None:
    """Write until it is over."""
    from django.db import connection, transaction

    from audit.actions import Action
    from audit.record import record_action

    chance, number = random.Random(seed), 0
    while not over.is_set():
        number += 1
        markers = [f"{seed}-{number}-{part}" for part in range(chance.randint(1, 3))]
        rolls_back = chance.random() < 0.3
        with transaction.atomic():
            for marker in markers:
                record_action(None, Action.SEARCHED, run_id="dropped" if rolls_back else marker)
            transaction.set_rollback(rolls_back)
        if rolls_back:
            continue
        with out:
            print("\n".join(markers), flush=True)
    connection.close()


def main(seed: str) -> None:
    django.setup()
    over, out = threading.Event(), threading.Lock()
    threads = [threading.Thread(target=write, args=(f"{seed}-{n}", over, out)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1])
