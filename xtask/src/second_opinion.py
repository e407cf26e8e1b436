"""Another checker on the frames of a run: finite, then topology, then ipctk on every frame.

usage: second_opinion.py FOLDER

FOLDER holds faces.json (objects with name, role, vertices and faces, cloths first), faces-000123.json from the frame on in
which they are others, and one file of little-endian f32 per frame. Prints one line of JSON: frames, and how many of them are not finite, intersect, or are sound.
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


class Faces:
    """What is judged, as long as no cloth gets another mesh."""

    def __init__(self, path):
        faces, cloth_faces, self.vertices, self.cloth = [], 0, 0, 0
        for item in json.loads(path.read_text()):
            own = numpy.array(item["faces"], dtype=numpy.int64).reshape(-1, 3)
            faces.append(own + self.vertices)
            self.vertices += item["vertices"]
            if item["role"] == "cloth":
                self.cloth = self.vertices
                cloth_faces += len(own)
        faces = numpy.concatenate(faces)
        self.problems = topology(faces[:cloth_faces], self.cloth)
        self.triangles = numpy.asfortranarray(faces.astype(numpy.int32))
        self.mesh = None

    def intersect(self, x):
        if self.mesh is None:
            self.mesh = ipctk.CollisionMesh(x, ipctk.edges(self.triangles), self.triangles)
            if self.cloth < self.vertices:
                # Bodies are not judged against one another.
                self.mesh.can_collide = ipctk.make_static_obstacle_filter(self.cloth)
        return ipctk.has_intersections(self.mesh, x)


def main():
    folder = pathlib.Path(sys.argv[1])
    faces = Faces(folder / "faces.json")
    problems, bad, unsound, frames = list(faces.problems), [], [], 0
    for path in sorted(folder.glob("*.f32")):
        frames += 1
        later = folder / f"faces-{path.stem}.json"
        if later.exists():
            faces = Faces(later)
            problems += [f"frame {int(path.stem)}: {problem}" for problem in faces.problems]
        x = numpy.fromfile(path, dtype="<f4").reshape(-1, 3).astype(numpy.float64)
        if len(x) != faces.vertices or not numpy.isfinite(x).all():
            unsound.append(int(path.stem))
        elif not faces.problems and faces.intersect(numpy.asfortranarray(x)):
            bad.append(int(path.stem))
    print(
        json.dumps(
            {"frames": frames, "topology": problems, "not_finite": unsound, "intersecting": bad, "ipctk": ipctk.__version__}
        )
    )


main()
