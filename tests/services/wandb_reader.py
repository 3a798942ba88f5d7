"""What asks W&B, kept alive for many questions: one JSON question a line in, one JSON answer a line
out.
"""

import json
import os
import sys
import tempfile

from herorun.trackers._wandb.worker import answer_question, quieten

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        tempfile.tempdir = scratch  # the client keeps folders there, too
        quieten(os.environ, scratch)
        for line in sys.stdin:
            print(json.dumps(answer_question(json.loads(line))), flush=True)
    os._exit(0)  # without waiting for the client's threads
