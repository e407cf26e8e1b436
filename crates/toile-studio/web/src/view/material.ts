import { Color, DoubleSide, MeshBasicMaterial, MeshStandardMaterial, Vector2 } from 'three';

/** Colours of the scale, low to high; the legend shows the same. */
export const SCALE = ['#3b2f7f', '#2f6fb0', '#23a08f', '#7ccb53', '#fbe34a'];

/** What refinement did to a face, by its mark, and the colour of that (B14-16). */
export const MARKS: readonly [string, string][] = [
  ['As it was', '#c9c5bd'],
  ['Split', '#d0392e'],
  ['Put back', '#3f9a4a'],
];

/** What all cloth of the page shares: how numbers become colours. */
export const scale = {
  on: { value: 0 },
  range: { value: new Vector2(0, 1) },
  colours: { value: SCALE.map((text) => new Color(text)) },
};

/** Only #rrggbb is a colour; anything else is a neutral grey. */
export function colour(text: string, otherwise = '#9aa0a6'): Color {
  return new Color(/^#[0-9a-f]{6}$/i.test(text) ? text : otherwise);
}

export interface ClothLook {
  front: Color;
  back: Color;
  /** Whether texture coordinates [m] are there to weave along. */
  woven: boolean;
  flat: boolean;
  /** Displacement along the normal [m], for shells of thickness. */
  offset?: { value: number };
  shell?: boolean;
}

/** Cloth: two sides, a weave that fades where it would flicker, and a colour scale. */
export function clothMaterial(look: ClothLook): MeshStandardMaterial {
  const material = new MeshStandardMaterial({
    roughness: 0.86,
    metalness: 0,
    side: DoubleSide,
    flatShading: look.flat,
    transparent: look.shell ?? false,
    opacity: look.shell ? 0.28 : 1,
    // No offset in depth: cloth lies a millimetre from bodies, and a picture must not show it inside them.
    depthWrite: !look.shell,
  });
  const uniforms = {
    uFront: { value: look.front },
    uBack: { value: look.back },
    uWoven: { value: look.woven ? 1 : 0 },
    uOffset: look.offset ?? { value: 0 },
    uScaleOn: look.shell ? { value: 0 } : scale.on,
    uRange: scale.range,
    uScale: scale.colours,
  };
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace(
        '#include <common>',
        `#include <common>
        attribute float scalar;
        attribute vec2 cloth;
        uniform float uOffset;
        varying float vScalar;
        varying vec2 vCloth;`,
      )
      .replace(
        '#include <begin_vertex>',
        `#include <begin_vertex>
        transformed += normal * uOffset;
        vScalar = scalar;
        vCloth = cloth;`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace(
        '#include <common>',
        `#include <common>
        uniform vec3 uFront;
        uniform vec3 uBack;
        uniform float uWoven;
        uniform float uScaleOn;
        uniform vec2 uRange;
        uniform vec3 uScale[${SCALE.length}];
        varying float vScalar;
        varying vec2 vCloth;
        vec3 scaled(float value) {
          float t = clamp((value - uRange.x) / max(uRange.y - uRange.x, 1e-12), 0.0, 1.0) * ${(SCALE.length - 1).toFixed(1)};
          vec3 c = uScale[0];
          ${SCALE.slice(1)
            .map((_, k) => `c = mix(c, uScale[${k + 1}], clamp(t - ${k.toFixed(1)}, 0.0, 1.0));`)
            .join('\n          ')}
          return c;
        }
        // A pattern of a given period [m] that is gone before it is smaller than two pixels.
        float shown(float period) {
          vec2 pixel = fwidth(vCloth);
          return 1.0 - smoothstep(0.2, 0.5, max(pixel.x, pixel.y) / period);
        }`,
      )
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
        diffuseColor.rgb = gl_FrontFacing ? uFront : uBack;
        if (uWoven > 0.5) {
          // Squares of 5 cm to see stretch by eye, and threads of 4 mm to see that it is cloth.
          vec2 square = step(0.5, fract(vCloth / 0.1));
          float checker = abs(square.x - square.y);
          diffuseColor.rgb *= 1.0 + (checker - 0.5) * 0.14 * shown(0.1);
          vec2 thread = 0.5 + 0.5 * cos(vCloth * (6.2831853 / 0.004));
          diffuseColor.rgb *= 1.0 + (thread.x * thread.y - 0.25) * 0.22 * shown(0.004);
        }
        if (uScaleOn > 0.5) diffuseColor.rgb = scaled(vScalar);`,
      );
  };
  return material;
}

/** Cloth in one colour, on both sides. */
export function plainMaterial(text: string): MeshStandardMaterial {
  return new MeshStandardMaterial({ color: colour(text), roughness: 0.86, metalness: 0, side: DoubleSide });
}

/** Bodies: matte. */
export function bodyMaterial(look: { front: Color; flat: boolean }): MeshStandardMaterial {
  return new MeshStandardMaterial({ color: look.front, roughness: 0.95, metalness: 0, flatShading: look.flat, side: DoubleSide });
}

/** Edges of faces, a hair nearer to the viewer than the faces themselves. */
export function wireMaterial(): MeshBasicMaterial {
  const material = new MeshBasicMaterial({ color: 0, wireframe: true, transparent: true, opacity: 0.3, depthWrite: false });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader.replace(
      '#include <project_vertex>',
      `#include <project_vertex>
      gl_Position.z -= 2e-5 * gl_Position.w;`,
    );
  };
  return material;
}
