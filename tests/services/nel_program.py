"""nel without its imports: it asks the server that has them (`nel_server.py`), whose answer is a
process with this one's arguments, environment, folder, umask and outputs.

`nel_program.py SOCKET WORDS...`; standard library alone.
"""

import array
import json
import os
import socket
import sys


def main() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    request = {
        "argv": sys.argv[2:],
        "env": dict(os.environ),
        "folder": os.getcwd(),
        "umask": umask,
    }
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        outputs = array.array("i", (0, 1, 2))
        server.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, outputs)])
        server.sendall(json.dumps(request).encode() + b"\n")
        answer = server.recv(8)
    return int(answer or 1)  # no answer: it was killed


sys.exit(main())
