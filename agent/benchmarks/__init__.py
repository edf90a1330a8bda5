"""The benchmark of runs. Importing this adds it to the registry."""

from agent.benchmarks.runs import RunsBenchmark
from copilot_site.lib.benchmarks import benchmarks

benchmarks.add("agent", RunsBenchmark())
