"""Run inside a home of its own: `manage.py shell -c "from tests.integration.site.backed_up import fill; fill()"`."""

import json
from io import StringIO

from django.contrib.auth.models import User
from django.core.management import call_command

from demo.business_data import ASKERS, describe_business_data, load_business_data, may_ask
from demo.company import load_company
from demo.seed import group_of, people
from tests.factories import allow, make_base, make_document

ASKER = "chen"
QUESTIONS = {"business": "How many environments are in use?", "documents": "What is the emergency line?"}
LINE = "0571 555 0142"


def fill() -> None:
    """People, a document with its file, and an embedded data source; then ask, which makes a sandbox in its database."""
    company = load_company()
    people(company)
    may_ask(describe_business_data(load_business_data()), [group_of(company, key) for key in ASKERS])
    base = make_base("Handbook")
    make_document(base, "reception.md", f"# Reception\n\nThe emergency line is {LINE}, day and night.\n", ingested=True)
    allow(User.objects.get(username=ASKER), base)
    answers()


def answers() -> None:
    """Print what the questions are answered with, as one line of JSON."""
    said = {}
    for name, question in QUESTIONS.items():
        out = StringIO()
        call_command("ask", question, username=ASKER, stdout=out)
        said[name] = out.getvalue()
    print("ANSWERS", json.dumps(said))
