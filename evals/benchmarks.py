"""List the benchmarks of `manage.py benchmark NAME`, by name."""

from collections.abc import Mapping

from evals.data.guard_benchmark import GuardBenchmark
from evals.documents.import_benchmark import ImportBenchmark
from evals.load.load_benchmark import LoadBenchmark
from evals.model.model_benchmark import ModelBenchmark
from evals.permissions.permissions_benchmark import PermissionsBenchmark
from evals.report import Benchmark
from evals.rights.forbidden_benchmark import ForbiddenBenchmark
from evals.rights.rights_benchmark import RightsBenchmark
from evals.search.scale_benchmark import ScaleBenchmark
from evals.search.search_benchmark import SearchBenchmark

BENCHMARKS: Mapping[str, Benchmark] = {
    "forbidden": ForbiddenBenchmark(),
    "guard": GuardBenchmark(),
    "import": ImportBenchmark(),
    "load": LoadBenchmark(),
    "model": ModelBenchmark(),
    "permissions": PermissionsBenchmark(),
    "rights": RightsBenchmark(),
    "scale": ScaleBenchmark(),
    "search": SearchBenchmark(),
}
