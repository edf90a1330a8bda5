"""Drop what a language model read for knowledge graphs: they are made by form alone."""

from typing import Any

from django.db import migrations, models


def forget_models(apps: Any, _schema: Any) -> None:
    """Let the bases that a model read for be read again, by form."""
    mentions = apps.get_model("knowledge", "GraphMention")
    readings = apps.get_model("knowledge", "GraphReading")
    bases = apps.get_model("knowledge", "KnowledgeBase")
    mentions._base_manager.filter(is_by_model=True).delete()
    readings._base_manager.filter(document__knowledge_base__graph="model").delete()
    bases._base_manager.filter(graph="model").update(graph="certain")


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0002_blocks_and_losses'),
    ]

    operations = [
        migrations.RunPython(forget_models, migrations.RunPython.noop),
        migrations.RemoveField(model_name='graphmention', name='is_by_model'),
        migrations.RemoveField(model_name='graphreading', name='by_model'),
        migrations.RemoveField(model_name='knowledgebase', name='graph_types'),
        migrations.DeleteModel(name='GraphSpending'),
        migrations.AlterField(
            model_name='knowledgebase',
            name='graph',
            field=models.CharField(choices=[('off', 'none'), ('certain', 'what is certain: references, terms, codes, people and tables')], default='certain', help_text='What documents name and say about it, for questions over several documents.', max_length=8, verbose_name='knowledge graph'),
        ),
    ]
