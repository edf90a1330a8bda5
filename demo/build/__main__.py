"""`python -m demo.build [--font PATH]`: build every binary document of the demo company again."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from demo.build.pdf import register_font, write_pdf
from demo.build.sheet import write_xlsx
from demo.build.slides import write_pptx
from demo.build.source import SourceFile, read_source
from demo.build.word import write_docx

SOURCES = Path(__file__).parent / "sources"
DOCUMENTS = Path(__file__).parents[1] / "documents"
FONT_FILE = Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")
WRITERS: dict[str, Callable[[SourceFile, Path], None]] = {
    ".docx": write_docx,
    ".pdf": write_pdf,
    ".pptx": write_pptx,
    ".xlsx": write_xlsx,
}


def main(arguments: list[str]) -> int:
    """Build all documents; returns the exit status, 1 with one sentence on standard error for a bad source."""
    parser = argparse.ArgumentParser(
        prog="python -m demo.build", description="Build the demo company's binary documents."
    )
    parser.add_argument("--font", type=Path, default=FONT_FILE, help=f"WenQuanYi Micro Hei (default: {FONT_FILE})")
    try:
        register_font(parser.parse_args(arguments).font)
        for path in sorted(SOURCES.rglob("*.md")):
            target = DOCUMENTS / path.relative_to(SOURCES).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            WRITERS[target.suffix](read_source(path), target)
            sys.stdout.write(f"{target.relative_to(DOCUMENTS)}  {target.stat().st_size:,} bytes\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
