"""Builds the binary documents of the demo company from readable Markdown.

Run `python -m demo.build` after changing a file under `demo/build/sources/`; the result is committed, so that the demo
itself needs none of the libraries used here. `sources/<kb>/<folder>/<name>.pdf.md` becomes
`documents/<kb>/<folder>/<name>.pdf`, likewise docx, xlsx and pptx. Markdown, text, CSV and HTML documents
are their own source.
"""
