import { Plane, Ray, Vector2, Vector3 } from 'three';
import type { Vector } from './vector';
import type { Piece } from './view/piece';
import type { Viewport } from './view/viewport';

/** What a pointer is on. */
export interface Hit {
  piece: Piece;
  vertex: number;
  face: number;
  /** Weights of the corners of the face. */
  weights: Vector;
  /** Where the ray meets the surface, or the ground. */
  point: Vector3;
  distance: number;
}

/** The ray through a place of the page. */
export function rayAt(view: Viewport, x: number, y: number): Ray {
  const box = view.canvas.getBoundingClientRect();
  const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
  const origin = new Vector3().setFromMatrixPosition(view.camera.matrixWorld);
  const direction = new Vector3(at.x, at.y, 0.5).unproject(view.camera).sub(origin).normalize();
  return new Ray(origin, direction);
}

/** How far beside cloth a pointer may be and still mean it [px]. */
const REACH = 10;

/** The first surface under a place of the page, or that of one piece, and the vertex of it that is nearest. */
export function surface(view: Viewport, x: number, y: number, only?: Piece): Hit | null {
  const ray = rayAt(view, x, y);
  let best: { piece: Piece; face: number; weights: Vector; distance: number } | null = null;
  for (const piece of only ? [only] : view.pieces) {
    const found = firstFace(ray, piece, best?.distance ?? Infinity);
    if (found) best = { piece, ...found };
  }
  if (!best) return null;
  const { piece, face, distance } = best;
  const point = ray.at(distance, new Vector3());
  let vertex = piece.faces[3 * face];
  let nearest = Infinity;
  for (let k = 0; k < 3; k += 1) {
    const corner = piece.faces[3 * face + k];
    const away = new Vector3().fromArray(piece.positions, 3 * corner).distanceToSquared(point);
    if (away < nearest) [nearest, vertex] = [away, corner];
  }
  return { ...best, vertex, point };
}

/** The first surface under a place of the page, or the vertex beside it, if it is wanted. */
export function pick(view: Viewport, x: number, y: number, wanted: (piece: Piece) => boolean): Hit | null {
  const hit = surface(view, x, y);
  if (!hit) return beside(view, x, y, rayAt(view, x, y), wanted);
  // What is in front of cloth covers it.
  return wanted(hit.piece) ? hit : null;
}

/** Corners and borders are hard to hit: the nearest vertex on the screen, if it is near enough. */
function beside(view: Viewport, x: number, y: number, ray: Ray, wanted: (piece: Piece) => boolean): Hit | null {
  let best: { piece: Piece; vertex: number } | null = null;
  let nearest = REACH;
  const place = new Vector3();
  for (const piece of view.pieces) {
    if (!wanted(piece)) continue;
    for (let vertex = 0; vertex < piece.positions.length / 3; vertex += 1) {
      const [px, py, behind] = view.project(place.fromArray(piece.positions, 3 * vertex));
      const away = Math.hypot(px - x, py - y);
      if (!behind && away < nearest) [nearest, best] = [away, { piece, vertex }];
    }
  }
  if (!best) return null;
  const { piece, vertex } = best;
  const point = new Vector3().fromArray(piece.positions, 3 * vertex);
  const corner = piece.faces.indexOf(vertex);
  const weights: Vector = [0, 0, 0];
  if (corner >= 0) weights[corner % 3] = 1;
  return { piece, vertex, face: Math.floor(corner / 3), weights, point, distance: point.distanceTo(ray.origin) };
}

/** Möller and Trumbore over all faces: a few tens of thousands take about a millisecond, so no tree that would be stale anyway. */
function firstFace(ray: Ray, piece: Piece, limit: number): { face: number; weights: Vector; distance: number } | null {
  const { positions: p, faces: f } = piece;
  const { x: ox, y: oy, z: oz } = ray.origin;
  const { x: dx, y: dy, z: dz } = ray.direction;
  let best = limit;
  let face = -1;
  let weights: Vector = [1, 0, 0];
  for (let k = 0; k < f.length; k += 3) {
    const a = 3 * f[k];
    const b = 3 * f[k + 1];
    const c = 3 * f[k + 2];
    const ax = p[a];
    const ay = p[a + 1];
    const az = p[a + 2];
    const ux = p[b] - ax;
    const uy = p[b + 1] - ay;
    const uz = p[b + 2] - az;
    const vx = p[c] - ax;
    const vy = p[c + 1] - ay;
    const vz = p[c + 2] - az;
    const hx = dy * vz - dz * vy;
    const hy = dz * vx - dx * vz;
    const hz = dx * vy - dy * vx;
    const det = ux * hx + uy * hy + uz * hz;
    if (Math.abs(det) < 1e-20) continue;
    const sx = ox - ax;
    const sy = oy - ay;
    const sz = oz - az;
    const u = (sx * hx + sy * hy + sz * hz) / det;
    if (u < 0 || u > 1) continue;
    const qx = sy * uz - sz * uy;
    const qy = sz * ux - sx * uz;
    const qz = sx * uy - sy * ux;
    const v = (dx * qx + dy * qy + dz * qz) / det;
    if (v < 0 || u + v > 1) continue;
    const t = (vx * qx + vy * qy + vz * qz) / det;
    if (t > 1e-6 && t < best) [best, face, weights] = [t, k / 3, [Math.max(0, 1 - u - v), u, v]];
  }
  return face < 0 ? null : { face, weights, distance: best };
}

/** Where a place of the page is in the plane through a point that faces the camera. */
export function inPlane(view: Viewport, through: Vector3, x: number, y: number): Vector3 | null {
  const facing = view.camera.getWorldDirection(new Vector3());
  return rayAt(view, x, y).intersectPlane(new Plane().setFromNormalAndCoplanarPoint(facing, through), new Vector3());
}

/** Where a place of the page is on the ground, if it is in front and not too far off. */
export function onGround(view: Viewport, height: number, x: number, y: number): Vector3 | null {
  const ray = rayAt(view, x, y);
  const point = ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -height), new Vector3());
  return point && point.distanceTo(ray.origin) < 8 * view.rig.distance ? point : null;
}

/** Vertices of each piece whose picture is inside a rectangle of the page. */
export function inBox(
  view: Viewport,
  box: { left: number; top: number; right: number; bottom: number },
  wanted: (piece: Piece) => boolean,
): Map<Piece, number[]> {
  const found = new Map<Piece, number[]>();
  const place = new Vector3();
  for (const piece of view.pieces) {
    if (!wanted(piece)) continue;
    const inside: number[] = [];
    for (let vertex = 0; vertex < piece.positions.length / 3; vertex += 1) {
      const [x, y, behind] = view.project(place.fromArray(piece.positions, 3 * vertex));
      if (!behind && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) inside.push(vertex);
    }
    if (inside.length > 0) found.set(piece, inside);
  }
  return found;
}
