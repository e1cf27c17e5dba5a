"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
#: Longest value of a label, in characters.
_LONGEST = 200


class Metric(NamedTuple):
    """A metric: its values by the value of its label, or one value under an empty one."""

    name: str
    kind: str
    help: str
    values: Mapping[str, float]
    label: str = ""


def exposition(metrics: Iterable[Metric], labels: Mapping[str, str]) -> str:
    """All metrics as text; each sample has the common *labels*."""
    lines: list[str] = []
    for metric in metrics:
        if not metric.values:
            continue
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        for key, value in metric.values.items():
            own = {**labels, metric.label: key} if metric.label else labels
            written = ",".join(f'{name}="{text[:_LONGEST].translate(_ESCAPES)}"' for name, text in own.items())
            lines.append(f"{metric.name}{{{written}}} {value:.10g}")
    return "\n".join([*lines, ""])
