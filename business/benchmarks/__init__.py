"""What `manage.py benchmark NAME` measures of business data."""

from business.benchmarks.guard import GuardBenchmark
from business.benchmarks.statements import StatementsBenchmark
from copilot_site.lib.benchmarks import benchmarks

benchmarks.add("guard", GuardBenchmark())
benchmarks.add("statements", StatementsBenchmark())
