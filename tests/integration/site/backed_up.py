"""Run inside a home of its own: `manage.py shell -c "from tests.integration.site.backed_up import fill; fill()"`."""

import json
from io import StringIO

from django.contrib.auth.models import User
from django.core.management import call_command

from agent.conversations.feedback import rate_answer
from agent.models import Message, MessageRole, Rating
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights
from demo.business_data import ASKERS, describe_business_data, grant_asking, load_business_data
from demo.company import load_company
from demo.seed import create_people, find_company_group
from knowledge.models import Document
from tests.factories import allow, make_base, make_document, make_folder

ASKER = "chen"
QUESTIONS = {"business": "How many environments are in use?", "documents": "What is the emergency line?"}
LINE = "0571 555 0142"


def fill() -> None:
    """People, documents with their files and rights, and an embedded data source; then ask, which makes a sandbox in its database."""
    company = load_company()
    create_people(company)
    grant_asking(describe_business_data(load_business_data()), [find_company_group(company, key) for key in ASKERS])
    base = make_base("Handbook")
    make_document(base, "reception.md", f"# Reception\n\nThe emergency line is {LINE}, day and night.\n", ingested=True)
    board = make_folder(base, "Board")
    make_document(board, "board.md", "# Board\n\nThe board meets on Mondays.\n", ingested=True)
    asker = User.objects.get(username=ASKER)
    allow(asker, base)
    deny_rights(None, [Right.VIEW], board, to=asker)
    find()
    answer = Message.objects.filter(role=MessageRole.ASSISTANT).latest("created_at")
    rate_answer(Principal.of(asker), session_id=answer.session_id, message_id=answer.pk, rating=Rating.HELPFUL)


def find() -> None:
    """Print the answers to the questions, and the documents that people may read, as one line of JSON."""
    found: dict[str, object] = {}
    for name, question in QUESTIONS.items():
        out = StringIO()
        call_command("ask", question, username=ASKER, stdout=out)
        found[name] = out.getvalue()
    for user in User.objects.filter(is_active=True).order_by("username"):
        visible = Document.objects.visible_to(Principal.of(user))
        found[f"read by {user.username}"] = sorted(visible.values_list("title", flat=True))
    print("FOUND", json.dumps(found))
