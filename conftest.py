"""Makes the comparison of notebooks exact, and the start of their kernels safe.

nbval compares what the outputs of a cell hold for each MIME type, but not in which order they
come. If the sequence of outputs and the MIME types of each agree as well, nothing can have moved
from one output to another.
"""

from collections.abc import Generator, Iterable

import nbval.kernel
import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, coalesce_streams

from kernels import own_socket


class _KernelManager(nbval.kernel.KernelManager):
    def __init__(self, **options: object) -> None:
        super().__init__(**own_socket(), **options)


nbval.kernel.KernelManager = _KernelManager


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a notebook cell whose outputs agree one by one, but not in sequence."""
    result = yield
    if (
        isinstance(item, IPyNbCell)
        and item.options["check"]
        and item.cell.execution_count is not None
    ):
        stored = _sequence(coalesce_streams(item.cell.outputs))
        computed = _sequence(item.test_outputs)
        if stored != computed:
            item.raise_cell_error(
                f"Cell outputs come in another order: stored {stored}, computed {computed}"
            )
    return result


def _sequence(outputs: Iterable[NotebookNode]) -> list[str]:
    """Type of each output with its MIME types, or with the name of its stream."""
    return [
        f"{output.output_type} {sorted(output.get('data', {})) or output.get('name', '')}"
        for output in outputs
    ]
