"""How this project's tools reach the kernels that they start.

Free TCP ports are looked for and then opened, so two kernels that start together may want
the same one, and one of them dies. A socket in the file system has a name of its own.
"""

import tempfile
import uuid
from pathlib import Path

# Removed when this process ends, with whatever kernels have left in it.
_FOLDER = tempfile.TemporaryDirectory(prefix="kernels-")


def own_socket() -> dict[str, str]:
    """Return the options of a kernel manager for a socket that no other kernel has."""
    # Short, because the system limits the length of a socket's path to about 100 characters.
    path = Path(_FOLDER.name, f"{uuid.uuid4().hex[:12]}.json")
    return {"transport": "ipc", "connection_file": str(path)}
