"""ipctk's broad phases on the cloth of `toile bench detect`.

Reads a folder: plan.json and the arrays it names. Prints one JSON line: for each method, number of threads and question, the
milliseconds for candidates and for the distance filter, frame by frame. Writes the candidates of the first frame.
"""

import json
import pathlib
import sys
import time

import ipctk
import numpy as np

folder = pathlib.Path(sys.argv[1])
plan = json.loads((folder / "plan.json").read_text())
epsilon, cloth = plan["epsilon"], plan["cloth_vertices"]


def positions(name, frame):
    return np.asfortranarray(np.fromfile(folder / f"{name}-{frame}.bin").reshape(-1, 3))


def ask(mesh, x, method):
    start = time.perf_counter()
    candidates = ipctk.Candidates()
    candidates.build(mesh, x, 0.5 * epsilon, method())
    middle = time.perf_counter()
    ipctk.NormalCollisions().build(candidates, mesh, x, epsilon)
    return candidates, [1e3 * (middle - start), 1e3 * (time.perf_counter() - middle)]


times = {}
for name in ["self", "both"]:
    faces = np.asfortranarray(np.fromfile(folder / f"{name}-faces.bin", dtype=np.int32).reshape(-1, 3))
    frames = [positions(name, frame) for frame in range(plan["frames"])]
    mesh = ipctk.CollisionMesh(frames[0], ipctk.edges(faces), faces)
    if name == "both":
        # Bodies do not meet themselves.
        mesh.can_collide = ipctk.make_static_obstacle_filter(cloth)
    for threads in plan["threads"]:
        ipctk.set_num_threads(threads)
        for method in plan["methods"]:
            found = [ask(mesh, x, getattr(ipctk, method)) for x in frames]
            times.setdefault(method, {}).setdefault(str(threads), {})[name] = [one[1] for one in found]
    candidates, _ = ask(mesh, frames[0], ipctk.LBVH)
    edges = mesh.edges
    vertex_face = [(c.vertex_id, c.face_id) for c in candidates.fv_candidates]
    edge_edge = np.array([(c.edge0_id, c.edge1_id) for c in candidates.ee_candidates], dtype=np.int32).reshape(-1, 2)
    np.array(vertex_face, dtype=np.int32).reshape(-1, 2).tofile(folder / f"{name}-vertex-face.bin")
    np.concatenate([edges[edge_edge[:, 0]], edges[edge_edge[:, 1]]], axis=1).astype(np.int32).tofile(
        folder / f"{name}-edge-edge.bin"
    )
print(json.dumps(times))
