"""A small section that keeps every rule, for tests that break it in one place."""

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import canonical

SVG = '<svg role="img" aria-label="A circle &amp; a point" xmlns="http://www.w3.org/2000/svg"/>'


def show(text: str, kind: str = "text/plain") -> NotebookNode:
    """Displayed data of one kind."""
    return new_output("display_data", {kind: text})


def printed(text: str, name: str = "stdout") -> NotebookNode:
    return new_output("stream", name=name, text=text)


def raised(name: str, message: str) -> NotebookNode:
    return new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])


def notebook(*cells: NotebookNode) -> NotebookNode:
    """A notebook of these cells, numbered as if run in order."""
    count = 0
    for cell in cells:
        cell.id = ""
        if cell.cell_type == "code" and cell.source.strip():
            count += 1
            cell.execution_count = count
    return canonical.canonical(nbformat.from_dict({"cells": list(cells), "nbformat": 4}))


def code(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = ()) -> NotebookNode:
    cell = new_code_cell(source, outputs=list(outputs))
    if tags:
        cell.metadata.tags = list(tags)
    return cell


def markdown(source: str) -> NotebookNode:
    return new_markdown_cell(source)


def section() -> NotebookNode:
    """A section in which every rule finds nothing; cell n is `cells[n - 1]`."""
    cells = [
        markdown(
            "# Turning twice\n\n"
            "**Question.** What do two turns make?\n\n"
            "**You will be able to** add angles.\n\n"
            "**You need** [nothing](https://example.org/v0.25/page) but Python 3.11.\n\n"
            "**Time.** 5 minutes."
        ),
        code(
            "from posenc import figures\nfrom posenc.exercises import check\n"
            "from posenc.proof import Derivation, evidence\n\nfigures.use()"
        ),
        markdown("## The idea\n\nTurn, then turn again."),
        markdown(
            "## The statement: two turns are one\n\n"
            "```{prf:theorem} Composition\n:label: thm-composition\n\n$R(a)R(b)=R(a+b)$.\n```"
        ),
        markdown("## The derivation"),
        code(
            'Derivation(left).step(right, "angle addition").qed("rotation-composition")',
            new_output(
                "execute_result",
                {
                    "text/plain": "R(a) R(b)\n  = R(a + b)   [angle addition]\n"
                    "∎ rotation-composition (symbolic)",
                    "text/latex": r"$$\begin{aligned}R(a)R(b)&=R(a+b)\end{aligned}$$",
                },
            ),
        ),
        markdown("## The check\n\nThe angle is $0.25$, the error below $1.5\\times10^{-7}$."),
        code(
            "print(0.25, 1.5e-7)\n"
            'evidence("rotation-composition", error=left - right, tolerance=1.5e-7)',
            printed("0.25 1.5e-07\n"),
            new_output(
                "execute_result",
                {"text/plain": "✓ rotation-composition (numeric): every error is at most 1.5e-07"},
            ),
        ),
        markdown("## The picture"),
        code(
            'figures.show(fig, alt="A circle & a point")',
            new_output(
                "execute_result",
                {"image/svg+xml": SVG, "text/plain": "Figure: A circle & a point"},
            ),
        ),
        markdown("## Where it stops being true"),
        code(
            'raise ValueError("no turn")',
            raised("ValueError", "no turn"),
            tags=("raises-exception",),
        ),
        markdown("## In real models"),
        markdown("## Exercises"),
    ]
    for number in (1, 2, 3):
        cells += [
            markdown(f"```{{exercise}} Turn\n:label: ex-turn-{number}\n\nTurn once.\n```"),
            code('check.value(..., "digest")', printed("Not answered yet.\n")),
            markdown(f"```{{solution-start}} ex-turn-{number}\n:class: dropdown\n```"),
            code('check.value(1, "digest")', printed("Right.\n")),
            markdown("```{solution-end}\n```"),
        ]
    cells.append(markdown("## Summary\n\nTurns add: {claim}`rotation-composition`."))
    return notebook(*cells)
