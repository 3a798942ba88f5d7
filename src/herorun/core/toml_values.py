"""Values as TOML writes them, for the parts of a contract that herorun proposes."""

import json
from typing import Any


def toml_value(value: Any) -> str:
    """A text, a number or a list of them: JSON's escapes are TOML's, but for DEL.

    >>> toml_value(["ü", 2, "\\x7f"])
    '["ü", 2, "\\\\u007f"]'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
