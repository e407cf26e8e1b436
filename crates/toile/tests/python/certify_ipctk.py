"""Runs ipctk over a folder of OBJ files and prints, as JSON, its answer for each file whose verdict differs.

usage: certify_ipctk.py FOLDER

FOLDER/verdicts.txt has one line per file: its name, then 1 where the exact checker found a fault and 0 where it did
not. The output is an object: "checked" (number of files), "disagreements" (names), "milliseconds" (time in ipctk).
"""

import json
import pathlib
import sys
import time

import ipctk
import numpy


def load(path):
    vertices, faces = [], []
    for line in path.read_text().splitlines():
        kind, *values = line.split()
        if kind == "v":
            vertices.append([float(value) for value in values])
        elif kind == "f":
            faces.append([int(value) - 1 for value in values])
    return numpy.array(vertices, order="F"), numpy.array(faces, dtype=numpy.int32, order="F")


def has_intersections(vertices, faces):
    mesh = ipctk.CollisionMesh(vertices, ipctk.edges(faces), faces)
    return ipctk.has_intersections(mesh, vertices)


def main():
    folder = pathlib.Path(sys.argv[1])
    verdicts = [line.split() for line in (folder / "verdicts.txt").read_text().splitlines()]
    disagreements, seconds = [], 0.0
    for name, fault in verdicts:
        vertices, faces = load(folder / name)
        start = time.perf_counter()
        found = has_intersections(vertices, faces)
        seconds += time.perf_counter() - start
        if found != (fault == "1"):
            disagreements.append(name)
    result = {"checked": len(verdicts), "disagreements": disagreements, "milliseconds": round(1e3 * seconds, 1)}
    print(json.dumps(result))


main()
