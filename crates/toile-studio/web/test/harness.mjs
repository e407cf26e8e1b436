// A studio, a browser and patience, for tests. Nothing here depends on how fast frames are.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const ending = process.platform === 'win32' ? '.exe' : '';

export const BIN = process.env.TOILE_BIN ?? join(root, 'target', 'release', `toile${ending}`);
export const BROWSER = process.env.TOILE_CHROMIUM ?? '/usr/bin/chromium';
export const SHOTS = process.env.TOILE_SHOTS ?? join(root, 'target', 'studio-shots');
/** Longest time that anything may take [ms]. */
export const PATIENCE = 1000 * Number(process.env.TOILE_PATIENCE ?? 120);

/** Why these tests cannot run here, if so. */
export function missing() {
  if (!existsSync(BIN)) return `no program at ${BIN}: build it, or name it in TOILE_BIN`;
  if (!existsSync(BROWSER)) return `no browser at ${BROWSER}: install chromium, or name it in TOILE_CHROMIUM`;
  return false;
}

/** Starts a studio; its link lets one browser in. */
export async function startStudio(scene, ...options) {
  const child = spawn(BIN, ['studio', scene, '--no-open', '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (data) => (complaints += data));
  const link = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /https?:\/\/\S+/.exec(line);
      if (found) resolve(found[0]);
    });
    child.on('exit', (code) => reject(new Error(`the studio ended with ${code}: ${complaints}`)));
    child.on('error', reject);
    setTimeout(() => reject(new Error(`the studio printed no link: ${complaints}`)), PATIENCE).unref();
  });
  return {
    link,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.on('exit', resolve);
        child.kill('SIGINT');
        setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
      }),
  };
}

/** A browser that keeps nothing and calls nobody. */
export async function startBrowser() {
  mkdirSync(SHOTS, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'toile-browser-'));
  const asRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({
    executablePath: BROWSER,
    args: [
      ...(asRoot ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--enable-unsafe-swiftshader',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disk-cache-dir=${folder}`,
    ],
  });
  return {
    browser,
    stop: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a link in a context of its own; collects what goes wrong there. */
export async function openPage(browser, link, options = {}) {
  const context = await browser.newContext({ viewport: { width: 960, height: 540 }, colorScheme: 'dark', ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const wrongs = [];
  page.on('pageerror', (error) => wrongs.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(message.text());
  });
  page.on('dialog', (dialog) => {
    wrongs.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(link);
  // The code is used up and gone from the address; the settings of the page come after it.
  const address = new URL(page.url());
  address.searchParams.set('noaa', '');
  await page.goto(address.href);
  await until(page, () => window.toile?.ready, 'the first frame');
  return { page, context, wrongs };
}

/** Waits until a function is true in the page; says for what it waited if it never is. */
export async function until(page, test, what, argument) {
  try {
    return await page.waitForFunction(test, argument, { timeout: PATIENCE, polling: 50 });
  } catch (error) {
    const state = await page
      .evaluate(() => ({
        tick: window.toile?.tick,
        room: window.toile?.room,
        notes: [...document.querySelectorAll('.note')].map((note) => note.textContent),
      }))
      .catch(() => 'the page is gone');
    throw new Error(`waited in vain for ${what}; ${JSON.stringify(state)}`, { cause: error });
  }
}

/** Waits until so many more frames have been stepped and drawn. */
export async function ticks(page, number) {
  const from = await page.evaluate(() => window.toile.tick);
  await until(page, (goal) => window.toile.tick >= goal, `${number} more ticks`, from + number);
}

export async function play(page) {
  // By the keyboard: the mouse may be holding something.
  if (!(await page.evaluate(() => window.toile.room.playing))) {
    await page.locator('canvas.view').focus();
    await page.keyboard.press('Space');
  }
  await until(page, () => window.toile.room.playing, 'time to run');
}

/** Stops time, and waits until the last frame has been drawn. */
export async function pause(page) {
  if (await page.evaluate(() => window.toile.room.playing)) await page.getByRole('button', { name: 'Pause (Space)' }).click();
  await settled(page);
}

/** Waits until the page shows the present of a room that stands still. */
export async function settled(page) {
  const still = () => {
    const { room, tick, stats, recorded } = window.toile;
    return !room.playing && !recorded && tick === room.tick && stats?.tick === room.tick;
  };
  await until(page, still, 'the room to stand still');
}

export async function tool(page, name) {
  const button = page.getByRole('toolbar', { name: 'Tools' }).getByRole('button', { name: new RegExp(`^${name} \\(`) });
  await button.click();
}

export async function openTab(page, name) {
  await page.getByRole('tab', { name }).click();
}

/** Opens a folding section. */
export async function unfold(page, name) {
  const section = page.locator('details.section', { has: page.locator('summary', { hasText: new RegExp(`^${name}$`) }) });
  if (!(await section.evaluate((node) => node.open))) await section.locator('summary').click();
  return section;
}

/** The first object of cloth that was there from the start. */
export async function clothId(page) {
  return page.evaluate(() => window.toile.scene.objects.find((object) => object.role === 'cloth' && !object.guest).id);
}

/** Where a vertex is [m]. */
export async function vertexAt(page, object, vertex) {
  return page.evaluate(([o, v]) => window.toile.positions(o).slice(3 * v, 3 * v + 3), [object, vertex]);
}

/**
 * A vertex that is neither pinned nor near a pin nor under something else, and where it is on the page [px]:
 * the farthest from all pins that the view shows.
 */
export async function freeVertex(page, object) {
  return page.evaluate((id) => {
    const p = window.toile.positions(id);
    const held = window.toile.panels.pinned.find(([one]) => one === id)?.[1] ?? [];
    const canvas = document.querySelector('canvas.view');
    const found = [];
    for (let v = 0; v < p.length / 3; v += 1) {
      const [x, y] = window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
      if (document.elementFromPoint(x, y) !== canvas) continue;
      let away = Infinity;
      for (const h of held) away = Math.min(away, Math.hypot(p[3 * v] - p[3 * h], p[3 * v + 1] - p[3 * h + 1], p[3 * v + 2] - p[3 * h + 2]));
      found.push({ vertex: v, x, y, away });
    }
    found.sort((a, b) => b.away - a.away);
    return found[0];
  }, object);
}

export async function shot(page, name) {
  await page.screenshot({ path: join(SHOTS, `${name}.png`), timeout: PATIENCE });
}
