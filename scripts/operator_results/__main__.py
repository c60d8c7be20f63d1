"""Writes tests/numeric/stored/*.json: small operator results computed by numpy alone, independently of Facet.

Run it with numpy installed (a virtual environment will do) from anywhere:
    python3 scripts/operator_results
Each line of a stored file is one case: operator, operands, attributes, expected outputs. Inputs are multiples of 1/8, so that they
are exact in every float dtype; results are float64 rounded to nine digits. The formulas are written from the definitions of the
operators, with loops where that is the plainest way to say it. All families draw from one generator in this order, so a new case
at the end of the list leaves the others as they are.
"""
import json
import os
import sys

from attention import attentions
from common import cases
from contraction import contractions, convolutions
from dropout import dropouts
from elementwise import activations, elementwise
from gather import gathers
from later import more_activations, products_and_likes
from loss import losses
from movement import movement
from pool import pools
from recurrent import recurrents
from reduction import normalizations, reductions
from wider import caches, kernels, layers, many_operands

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "numeric", "stored")


def main():
    for make in (elementwise, activations, contractions, convolutions, reductions, normalizations, pools, movement, gathers, losses, attentions,
                 recurrents, dropouts, products_and_likes, more_activations, caches,
                 kernels, layers, many_operands):
        make()
    os.makedirs(OUT, exist_ok=True)
    total = 0
    for family, rows in sorted(cases.items()):
        text = "[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n"
        total += len(text)
        with open(os.path.join(OUT, family + ".json"), "w", encoding="utf-8") as out:
            out.write(text)
    print("%d cases, %d operators, %d bytes" % (sum(map(len, cases.values())), len({r["op"] for rows in cases.values() for r in rows}), total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
