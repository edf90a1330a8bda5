from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

STOP_REASONS = [
    ("ok", "answered"),
    ("need_clarify", "asked back"),
    ("no_evidence", "nothing found"),
    ("permission_denied", "no access"),
    ("tool_error", "a tool failed"),
    ("cancelled", "stopped"),
    ("budget_exhausted", "a limit was reached"),
    ("refused", "refused"),
]
LEADS = {
    "I cannot confirm an answer. These passages come closest:": "Best match (not verified):",
    "我无法确认答案。以下段落最接近：": "最相关的内容（未核实）：",
    "I cannot confirm an answer. This is what the business data gave:": "From the business data",
    "我无法确认答案。业务数据给出的结果是：": "来自业务数据",
}


def show_as_passages(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Turn answers that were not confirmed into answers of the kind `passages`, under the words of today."""
    message = apps.get_model("agent", "Message")
    rows = message.objects.filter(stop_reason="not_confirmed").only("pk", "content", "sentences", "state")
    for row in rows.iterator(chunk_size=500):
        row.sentences = [_line(each) for each in row.sentences]
        for before, after in LEADS.items():
            row.content = row.content.replace(before, after)
        output = row.state.get("output") or {}
        row.state = row.state | {"output": output | {"stop_reason": "ok", "kind": "passages"}}
        row.stop_reason = "ok"
        row.save(update_fields=["content", "sentences", "state", "stop_reason"])
    apps.get_model("agent", "CaseResult").objects.filter(stop_reason="not_confirmed").update(stop_reason="ok")


def _line(sentence: dict[str, Any]) -> dict[str, Any]:
    """Return a kept sentence on a line of its own: it stood there because the answer was not confirmed."""
    return sentence | {"text": LEADS.get(sentence["text"], sentence["text"]), "gap": sentence.get("gap") or "\n"}


class Migration(migrations.Migration):
    dependencies = [("agent", "0001_initial")]

    operations = [
        migrations.RunPython(show_as_passages, migrations.RunPython.noop),
        *(
            migrations.AlterField(
                model_name=name,
                name="stop_reason",
                field=models.CharField(blank=True, choices=STOP_REASONS, max_length=20),
            )
            for name in ("caseresult", "message")
        ),
    ]
