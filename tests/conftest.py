"""One thread a process: the tensors of tests are small, and two threads crawl where a core is busy."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
