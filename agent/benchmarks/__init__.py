"""The benchmarks of runs, of many people at once, and of refusals over the whole stack. Importing this adds them to the registry."""

from agent.benchmarks.forbidden import ForbiddenBenchmark
from agent.benchmarks.load import LoadBenchmark
from agent.benchmarks.runs import RunsBenchmark
from copilot_site.lib.benchmarks import benchmarks

benchmarks.add("agent", RunsBenchmark())
benchmarks.add("forbidden", ForbiddenBenchmark())
benchmarks.add("load", LoadBenchmark())
