"""The benchmarks of runs, of model calls, of many people at once, and of refusals. Importing this adds them to the registry."""

from agent.benchmarks.forbidden import ForbiddenBenchmark
from agent.benchmarks.load import LoadBenchmark
from agent.benchmarks.model import ModelBenchmark
from agent.benchmarks.runs import RunsBenchmark
from copilot_site.lib.benchmarks import benchmarks

benchmarks.add("agent", RunsBenchmark())
benchmarks.add("forbidden", ForbiddenBenchmark())
benchmarks.add("load", LoadBenchmark())
benchmarks.add("model", ModelBenchmark())
