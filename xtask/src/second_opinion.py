"""Another checker on the frames of a run: finite, then topology, then ipctk on every frame.

usage: second_opinion.py FOLDER

FOLDER holds faces.json (objects with name, role, vertices and faces, cloths first) and one file of little-endian f32
per frame. Prints one line of JSON: frames, and how many of them are not finite, intersect, or are sound.
"""

import json
import pathlib
import sys

import ipctk
import numpy


def topology(faces, vertices):
    """What ipctk does not see: missing or repeated vertices, and faces on the same three vertices."""
    if len(faces) == 0:
        return []
    problems = []
    if faces.min() < 0 or faces.max() >= vertices:
        problems.append("a face names a vertex that does not exist")
    ordered = numpy.sort(faces, axis=1)
    if (ordered[:, 0] == ordered[:, 1]).any() or (ordered[:, 1] == ordered[:, 2]).any():
        problems.append("a face names a vertex twice")
    if len(numpy.unique(ordered, axis=0)) != len(ordered):
        problems.append("two faces have the same three vertices")
    return problems


def main():
    folder = pathlib.Path(sys.argv[1])
    objects = json.loads((folder / "faces.json").read_text())
    faces, cloth_faces, first, cloth = [], 0, 0, 0
    for item in objects:
        own = numpy.array(item["faces"], dtype=numpy.int64).reshape(-1, 3)
        faces.append(own + first)
        first += item["vertices"]
        if item["role"] == "cloth":
            cloth = first
            cloth_faces += len(own)
    faces = numpy.concatenate(faces)
    problems = topology(faces[:cloth_faces], cloth)
    mesh, bad, unsound, frames = None, [], [], 0
    for path in sorted(folder.glob("*.f32")):
        frames += 1
        x = numpy.fromfile(path, dtype="<f4").reshape(-1, 3).astype(numpy.float64)
        if len(x) != first or not numpy.isfinite(x).all():
            unsound.append(int(path.stem))
            continue
        if problems:
            continue
        x = numpy.asfortranarray(x)
        if mesh is None:
            triangles = numpy.asfortranarray(faces.astype(numpy.int32))
            mesh = ipctk.CollisionMesh(x, ipctk.edges(triangles), triangles)
            if cloth < first:
                # Bodies are not judged against one another.
                mesh.can_collide = ipctk.make_static_obstacle_filter(cloth)
        if ipctk.has_intersections(mesh, x):
            bad.append(int(path.stem))
    print(
        json.dumps(
            {"frames": frames, "topology": problems, "not_finite": unsound, "intersecting": bad, "ipctk": ipctk.__version__}
        )
    )


main()
