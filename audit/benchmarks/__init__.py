"""The benchmark of the audit log, beside plain inserts. Importing this adds it to the registry."""

from audit.benchmarks.entries import EntriesBenchmark
from copilot_site.lib.benchmarks import benchmarks

benchmarks.add("audit", EntriesBenchmark())
