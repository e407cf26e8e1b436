import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  PCFShadowMap,
  PlaneGeometry,
  type Scene,
  ShaderMaterial,
  ShadowMaterial,
  type Sphere,
  Vector3,
  type WebGLRenderer,
} from 'three';

export interface StageColours {
  top: string;
  bottom: string;
  line: string;
  wire: number;
}

export const STAGE: Record<'dark' | 'light', StageColours> = {
  dark: { top: '#232a33', bottom: '#12161b', line: '#7d8a9c', wire: 0xffffff },
  light: { top: '#fbfcfd', bottom: '#dfe4ea', line: '#66717f', wire: 0x000000 },
};

/** Light, ground and what is behind everything. */
export class Stage {
  readonly group = new Group();
  readonly #key = new DirectionalLight(0xfff4e6, 2.9);
  readonly #fill = new DirectionalLight(0xe4ecff, 0.7);
  readonly #sky = new HemisphereLight(0xf4f6fa, 0x7a746c, 1.6);
  readonly #grid: Mesh<PlaneGeometry, ShaderMaterial>;
  readonly #shade: Mesh<PlaneGeometry, ShadowMaterial>;
  readonly #shadows: boolean;

  constructor(renderer: WebGLRenderer, scene: Scene, shadows: boolean) {
    this.#shadows = shadows;
    if (shadows) {
      renderer.shadowMap.enabled = true;
      renderer.shadowMap.type = PCFShadowMap;
      renderer.shadowMap.autoUpdate = false;
      this.#key.castShadow = true;
      this.#key.shadow.mapSize.set(2048, 2048);
      this.#key.shadow.radius = 4;
    }
    this.#grid = new Mesh(new PlaneGeometry(1, 1), gridMaterial());
    this.#grid.rotation.x = -Math.PI / 2;
    this.#grid.renderOrder = -1;
    this.#shade = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.28, depthWrite: false }));
    this.#shade.rotation.x = -Math.PI / 2;
    this.#shade.receiveShadow = true;
    this.group.add(this.#key, this.#key.target, this.#fill, this.#sky, this.#grid, this.#shade);
    scene.add(this.group);
  }

  colours(colours: StageColours, dark: boolean): void {
    this.#grid.material.uniforms.line.value = new Color(colours.line);
    this.#shade.material.opacity = dark ? 0.34 : 0.2;
    this.#sky.intensity = dark ? 1.25 : 1.6;
    this.#grid.material.uniforms.ink.value = dark ? 1 : 0.7;
  }

  set gridVisible(visible: boolean) {
    this.#grid.visible = visible;
  }

  /** Fits lights and ground to what there is. Without a ground the grid is only there to see directions by. */
  fit(ball: Sphere, ground: number | null): void {
    const radius = Math.max(ball.radius, 0.1);
    const height = ground ?? ball.center.y - 1.6 * radius;
    const size = 40 * radius;
    for (const plane of [this.#grid, this.#shade]) {
      plane.scale.set(size, size, 1);
      plane.position.set(ball.center.x, height - (plane === this.#grid ? 0.0005 : 0.0002) * radius, ball.center.z);
    }
    this.#shade.visible = this.#shadows && ground !== null;
    const cell = 10 ** Math.round(Math.log10(radius * 0.2));
    const uniforms = this.#grid.material.uniforms;
    uniforms.cell.value = cell;
    uniforms.reach.value = 5.5 * radius;
    uniforms.strength.value = ground === null ? 0.55 : 1;
    const light = this.#key;
    light.position.copy(ball.center).addScaledVector(new Vector3(0.55, 1.15, 0.65).normalize(), 4 * radius);
    light.target.position.copy(ball.center);
    this.#fill.position.copy(ball.center).addScaledVector(new Vector3(-0.8, 0.3, -0.6), 4 * radius);
    const shadow = light.shadow.camera;
    const reach = 1.5 * radius;
    Object.assign(shadow, { left: -reach, right: reach, top: reach, bottom: -reach, near: radius, far: 8 * radius });
    shadow.updateProjectionMatrix();
    light.shadow.bias = -0.0006;
    light.shadow.normalBias = 0.008 * radius;
  }
}

/** Lines that stay a pixel wide and fade away from the middle. */
function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: {
      line: { value: new Color('#888888') },
      cell: { value: 0.1 },
      reach: { value: 5 },
      strength: { value: 1 },
      ink: { value: 1 },
    },
    vertexShader: `
      varying vec2 place;
      varying vec2 middle;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        place = world.xz;
        middle = vec2(modelMatrix[3].x, modelMatrix[3].z);
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      varying vec2 place;
      varying vec2 middle;
      uniform vec3 line;
      uniform float cell;
      uniform float reach;
      uniform float strength;
      uniform float ink;
      float lines(float period) {
        vec2 at = place / period;
        vec2 width = fwidth(at);
        vec2 near = abs(fract(at - 0.5) - 0.5) / width;
        float there = 1.0 - min(min(near.x, near.y), 1.0);
        return there * (1.0 - smoothstep(0.15, 0.6, max(width.x, width.y)));
      }
      void main() {
        float fade = 1.0 - smoothstep(0.25, 1.0, length(place - middle) / reach);
        float alpha = max(0.16 * lines(cell), 0.34 * lines(10.0 * cell)) * fade * strength * ink;
        if (alpha < 0.004) discard;
        gl_FragColor = vec4(line, alpha);
        #include <colorspace_fragment>
      }`,
  });
}
