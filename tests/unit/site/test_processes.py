"""What the processes of a system load, and what they share."""

import gc
import subprocess
import sys

from celery.signals import worker_before_create_process

import copilot_site.celery  # noqa: F401 - connects the signal
from tests.homes import ROOT

# As `celery -A copilot_site.beat beat` begins.
BEAT = """
from copilot_site.beat import app
app.loader.init_worker()
from django.apps import apps
print(apps.ready, sorted(app.conf.beat_schedule))
"""


def test_beat_knows_what_to_send_and_loads_no_app_of_django() -> None:
    done = subprocess.run([sys.executable, "-c", BEAT], cwd=ROOT, capture_output=True, text=True, check=True)
    ready, _, schedule = done.stdout.partition(" ")
    assert ready == "False"
    assert "heartbeat" in schedule


def test_client_of_models_is_not_loaded_before_a_model_is_spoken_to() -> None:
    loaded = "import django, sys; django.setup(); print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_workers_keep_what_they_loaded_out_of_the_garbage_collection_of_their_children() -> None:
    gc.unfreeze()  # what the tests themselves keep out of it
    try:
        worker_before_create_process.send(sender=None)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
