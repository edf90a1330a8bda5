"""unstructured works with what is installed, and with nothing it asks for besides."""

import subprocess
import sys

LEFT_OUT = ("numba", "llvmlite", "spacy", "thinc", "blis", "unstructured_client", "torch")


def test_its_partitioners_work_without_what_is_left_out() -> None:
    program = f"""
import sys
sys.modules.update(dict.fromkeys({LEFT_OUT!r}))  # None: importing one of them fails
from knowledge.parsers.unstructured_warmup import partition_html
print([(e.category, e.text) for e in partition_html(text="<h1>Rules</h1><ul><li>A sentence of several words.</li></ul>")])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "[('Title', 'Rules'), ('ListItem', 'A sentence of several words.')]"
