"""Benchmarks of import, search, rights and scale, beside peers that anybody can run. Importing this adds them to the registry."""

from copilot_site.lib.benchmarks import benchmarks
from knowledge.benchmarks.imports import ImportBenchmark
from knowledge.benchmarks.rights import RightsBenchmark
from knowledge.benchmarks.scale import ScaleBenchmark
from knowledge.benchmarks.searches import SearchBenchmark

benchmarks.add("import", ImportBenchmark())
benchmarks.add("search", SearchBenchmark())
benchmarks.add("rights", RightsBenchmark())
benchmarks.add("scale", ScaleBenchmark())
