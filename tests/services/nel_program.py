"""nel as its own script starts it, but that libyaml reads the 1.3 MB in which nel lists its tasks:
that takes a tenth of the time, and nel reads them twice for each run.

It runs in `.venv-nel`.
"""

import sys
from functools import partial

import yaml

yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)

from nemo_evaluator_launcher.cli.main import main  # noqa: E402  # it must find the above

sys.exit(main())
