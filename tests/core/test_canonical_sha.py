import hashlib
import subprocess
import sys

import pytest

from herorun.core.canonical_json import LONG, sha1, sha256


@pytest.mark.parametrize("size", [0, 1, LONG - 1, LONG])
def test_a_digest_is_the_one_of_hashlib(size: int) -> None:
    data = b"x" * size
    assert sha1(data).hexdigest() == hashlib.sha1(data).hexdigest()
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


def test_openssl_is_not_loaded_for_short_data() -> None:
    code = (
        "import sys; from herorun.core.canonical_json import LONG, sha256; sha256(b'x').digest(); "
        "assert '_hashlib' not in sys.modules; sha256(bytes(LONG)); assert 'hashlib' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
