// The seven manipulations of Volino and Magnenat-Thalmann (1997), figure 5, with the mouse: borders blocked, a fall, a cube
// that bumps and slips, expanding and shrinking, cutting, removing, sewing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { BIN, PATIENCE, clothId, missing, openPage, openTab, pause, play, shot, startBrowser, startStudio, ticks, tool, unfold, until } from './harness.mjs';

describe('a tailor at the studio', { skip: missing(), timeout: 10 * PATIENCE }, () => {
  let studio;
  let chrome;
  let opened;
  let page;
  let sheet;

  before(async () => {
    // About 400 triangles, as in the paper.
    studio = await startStudio('hang', '--set', 'cloth.sheet.shape.resolution=14');
    chrome = await startBrowser();
    opened = await openPage(chrome.browser, studio.link);
    page = opened.page;
    sheet = await clothId(page);
  });

  after(async () => {
    await chrome?.stop();
    await studio?.stop();
  });

  /** Parts of the cloth, its area [m²], the vertices of its borders that no name has, part by part, and holes: borders all of such. */
  const look = () =>
    page.evaluate((id) => {
      const p = window.toile.positions(id);
      const f = window.toile.faces(id);
      const { groups, mesh } = window.toile.scene.objects.find((object) => object.id === id);
      const part = Array.from({ length: p.length / 3 }, (_, v) => v);
      const root = (v) => (part[v] === v ? v : (part[v] = root(part[v])));
      const sides = new Set();
      let area = 0;
      for (let k = 0; k < f.length; k += 3) {
        const [a, b, c] = [f[k], f[k + 1], f[k + 2]];
        for (const [x, y] of [[a, b], [b, c], [c, a]]) {
          part[root(x)] = root(y);
          sides.add(`${x},${y}`);
        }
        const u = [0, 1, 2].map((axis) => p[3 * b + axis] - p[3 * a + axis]);
        const v = [0, 1, 2].map((axis) => p[3 * c + axis] - p[3 * a + axis]);
        area += Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
      }
      const named = new Set(groups.flatMap((group) => group.vertices));
      const next = new Map([...sides].map((side) => side.split(',').map(Number)).filter(([x, y]) => !sides.has(`${y},${x}`)));
      const free = [...next.keys()].filter((v) => !named.has(v));
      const holes = [];
      for (const from of free) {
        if (holes.flat().includes(from)) continue;
        const loop = [from];
        while (next.get(loop.at(-1)) !== from) loop.push(next.get(loop.at(-1)));
        if (!loop.some((v) => named.has(v))) holes.push(loop);
      }
      const used = [...new Set(f)];
      const parts = [...new Set(used.map(root))];
      return { faces: f.length / 3, mesh, area, finite: p.every(Number.isFinite), holes, parts: parts.map((one) => free.filter((v) => root(v) === one)) };
    }, sheet);

  /** Where a vertex is on the page. */
  const onPage = (vertex) =>
    page.evaluate(([id, v]) => {
      const p = window.toile.positions(id);
      return window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
    }, [sheet, vertex]);

  /** A place on the page beside a vertex of a border, on the cloth that has the vertex: the other side of a cut may lie there too. */
  const inside = (vertex) =>
    page.evaluate(([id, v]) => {
      const p = window.toile.positions(id);
      const f = window.toile.faces(id);
      const at = (one) => window.toile.project(p[3 * one], p[3 * one + 1], p[3 * one + 2]);
      const around = [];
      for (let k = 0; k < f.length; k += 3) if (f.slice(k, k + 3).includes(v)) around.push(...f.slice(k, k + 3).map(at));
      const [x, y] = at(v);
      const [mx, my] = [0, 1].map((axis) => around.reduce((sum, one) => sum + one[axis], 0) / around.length);
      const part = 4 / Math.max(4, Math.hypot(mx - x, my - y));
      return { x: x + part * (mx - x), y: y + part * (my - y) };
    }, [sheet, vertex]);

  /** Vertices of the two sides of the cut that face each other near its middle. */
  const acrossCut = ([first, second]) =>
    page.evaluate(([id, one, other]) => {
      const p = window.toile.positions(id);
      const place = (v) => p.slice(3 * v, 3 * v + 3);
      const away = (a, b) => Math.hypot(...a.map((value, axis) => value - b[axis]));
      // A hole is farther from the other side than any vertex of the cut.
      const near = (v, list) => Math.min(...list.map((w) => away(place(v), place(w))));
      const own = one.filter((v) => near(v, other) < 0.12);
      const middle = [0, 1, 2].map((axis) => own.reduce((sum, v) => sum + place(v)[axis], 0) / own.length);
      const nearest = (list) => list.reduce((best, v) => (away(place(v), middle) < away(place(best), middle) ? v : best));
      const vertex = nearest(own);
      return [vertex, other.reduce((best, v) => (away(place(v), place(vertex)) < away(place(best), place(vertex)) ? v : best))];
    }, [sheet, first, second]);

  const refusal = () => page.evaluate(() => document.querySelector('.refusal:not([hidden])')?.textContent);

  const group = (name) =>
    page.evaluate(([id, wanted]) => window.toile.scene.objects.find((object) => object.id === id).groups.find((one) => one.name === wanted).vertices, [sheet, name]);

  const changed = (mesh) =>
    until(page, ([id, old]) => window.toile.scene.objects.find((object) => object.id === id).mesh !== old || document.querySelector('.refusal:not([hidden])'), 'another mesh', [sheet, mesh]).then(async () =>
      assert.equal(await page.evaluate(() => document.querySelector('.refusal:not([hidden])')?.textContent), undefined),
    );

  const certified = () => until(page, () => document.querySelector('.lamp').dataset.state === 'good', 'the green lamp');

  /** The vertex of the cloth that is seen nearest to its middle on the page. */
  const middle = () =>
    page.evaluate((id) => {
      const p = window.toile.positions(id);
      const canvas = document.querySelector('canvas.view');
      const seen = [];
      for (let v = 0; v < p.length / 3; v += 1) {
        const [x, y] = window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
        if (document.elementFromPoint(x, y) === canvas) seen.push({ x, y });
      }
      const [cx, cy] = ['x', 'y'].map((axis) => seen.reduce((sum, one) => sum + one[axis], 0) / seen.length);
      seen.sort((a, b) => Math.hypot(a.x - cx, a.y - cy) - Math.hypot(b.x - cx, b.y - cy));
      return seen[0];
    }, sheet);

  /** Shows or hides the panels. */
  const panels = async (name) => {
    await page.locator('canvas.view').focus();
    await page.keyboard.press('p');
    if (name) await openTab(page, name);
  };

  /** Pins the border that is free, and hides the panels. */
  const block = async () => {
    await unfold(page, 'Objects');
    await page.getByRole('button', { name: /^Pin border top/ }).click();
    const held = (await group('top')).length + (await group('bottom')).length;
    await until(page, ([id, number]) => window.toile.panels.pinned.find(([one]) => one === id)?.[1].length === number, 'both borders held', [sheet, held]);
    await panels();
  };

  it('blocks two borders', async () => {
    await openTab(page, 'Scene');
    await block();
    const box = await page.locator('canvas.view').boundingBox();
    await page.keyboard.down('Alt');
    await page.mouse.move(box.x + 600, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 640, box.y + 320, { steps: 6 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await page.getByRole('button', { name: /^Frame all/ }).click();
    await page.waitForTimeout(800);
  });

  it('lets it fall between them', async () => {
    const lowest = (id) => Math.min(...window.toile.positions(id).filter((_, k) => k % 3 === 1));
    const start = await page.evaluate(lowest, sheet);
    await play(page);
    await ticks(page, 20);
    assert.ok((await page.evaluate(lowest, sheet)) < start - 0.01, 'it sags');
    await certified();
    await shot(page, 'tailor-1-falls');
  });

  it('lets a cube bump and slip', async () => {
    await tool(page, 'Drop');
    await page.getByRole('button', { name: 'Cube', exact: true }).click();
    await pause(page);
    // Beside the middle, where the cloth slopes.
    const top = await group('top');
    const { x, y } = await middle();
    const [, edge] = await onPage(top[Math.floor(top.length / 2)]);
    await page.mouse.click(x, y + 0.4 * (edge - y));
    await until(page, () => window.toile.scene.objects.some((object) => object.guest), 'a cube');
    const cube = await page.evaluate(() => window.toile.scene.objects.find((object) => object.guest).id);
    const place = (id) => {
      const p = window.toile.positions(id);
      return [0, 1, 2].map((axis) => p.filter((_, k) => k % 3 === axis).reduce((sum, value) => sum + value, 0) / (p.length / 3));
    };
    const from = await page.evaluate(place, cube);
    await play(page);
    await until(page, ([id, height]) => window.toile.positions(id)[1] < height - 0.15, 'the cube to fall', [cube, from[1]]);
    await ticks(page, 25);
    const lain = await page.evaluate(place, cube);
    assert.ok(lain[1] > from[1] - 0.8, `the cloth stops it: it fell by ${from[1] - lain[1]} m`);
    await certified();
    await shot(page, 'tailor-2-cube');
    await panels('Scene');
    await page.getByRole('button', { name: /^Unpin border top/ }).click();
    await until(page, ([id, height]) => window.toile.positions(id)[1] < height - 1, 'the cube to slip off', [cube, lain[1]]);
    await certified();
    await shot(page, 'tailor-2-slips');
    await pause(page);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('r');
    await until(page, () => !window.toile.scene.objects.some((object) => object.guest), 'the start');
    await block();
    await play(page);
    await ticks(page, 20);
  });

  it('expands and shrinks under a brush', async () => {
    await pause(page);
    await tool(page, 'Size');
    for (const [way, factor] of [['Expand', 1], ['Shrink', -1]]) {
      await page.getByRole('button', { name: way, exact: true }).click();
      const { x, y } = await middle();
      await page.mouse.move(x, y);
      await until(page, () => document.querySelector('.chalk-ring').hasAttribute('d'), 'the circle of the brush');
      const before = await look();
      await shot(page, `tailor-3-${way.toLowerCase()}-brush`);
      await page.mouse.click(x, y);
      await changed(before.mesh);
      assert.equal((await look()).faces, before.faces);
      await page.mouse.click(x, y);
      await until(page, ([id, old]) => window.toile.scene.objects.find((object) => object.id === id).mesh >= old + 2, 'twice as much', [sheet, before.mesh]);
      await play(page);
      await ticks(page, 12);
      await pause(page);
      const now = await look();
      assert.ok(factor * (now.area - before.area) > 0.004, `${way}: ${before.area} m² became ${now.area}`);
      assert.ok(now.finite);
      await certified();
      await shot(page, `tailor-3-${way.toLowerCase()}`);
    }
  });

  it('sets the radius of the brush by wheel, keys and slider', async () => {
    const { x, y } = await middle();
    const field = page.locator('.tool-card').getByLabel('Radius', { exact: true }).first();
    const radius = async () => Number(await field.inputValue());
    await page.mouse.move(x, y);
    await until(page, () => document.querySelector('canvas.view').dataset.over === 'cloth', 'the pointer on cloth');
    const before = await radius();
    await page.mouse.wheel(0, -100);
    await page.waitForTimeout(300);
    const larger = await radius();
    assert.ok(larger > before, `${before} became ${larger}`);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('[');
    await page.waitForTimeout(300);
    assert.ok((await radius()) < larger);
    await field.fill('9');
    await field.press('Enter');
    await field.blur();
    await page.waitForTimeout(300);
  });

  it('says why not, at the place', async () => {
    await page.locator('canvas.view').focus();
    await page.keyboard.press('c');
    const { x, y } = await middle();
    await page.mouse.click(x, y);
    await page.locator('.refusal').waitFor();
    assert.match(await page.locator('.refusal').textContent(), /line over the cloth/);
    const box = await page.locator('.refusal').boundingBox();
    assert.ok(Math.hypot(box.x - x, box.y - y) < 60);
    await shot(page, 'tailor-refusal');
    await page.keyboard.press('Escape');
    await page.locator('.refusal').waitFor({ state: 'hidden' });
  });

  it('cuts from border to border', async () => {
    // A fresh sheet: what was expanded and shrunk hangs in folds.
    await panels('Scene');
    await page.locator('canvas.view').focus();
    await page.keyboard.press('r');
    await until(page, () => window.toile.room.undo === null, 'the start');
    await block();
    await play(page);
    await ticks(page, 20);
    await pause(page);
    await tool(page, 'Cut');
    const before = await look();
    const ends = [];
    for (const name of ['left', 'right']) {
      const all = await group(name);
      ends.push(await onPage(all[Math.floor(all.length / 2)]));
    }
    // From beside the cloth to beside the cloth.
    const [[ax, ay], [bx, by]] = ends;
    const out = 24 / Math.hypot(bx - ax, by - ay);
    await page.mouse.move(ax - out * (bx - ax), ay - out * (by - ay));
    await page.mouse.down();
    await page.mouse.move(bx + out * (bx - ax), by + out * (by - ay), { steps: 12 });
    await until(page, () => document.querySelector('.chalk-cut').hasAttribute('d'), 'the line');
    await shot(page, 'tailor-4-line');
    await page.mouse.up();
    await changed(before.mesh);
    const now = await look();
    assert.equal(now.parts.length, 2, 'two pieces');
    assert.ok(now.faces >= before.faces);
    await play(page);
    await ticks(page, 15);
    await certified();
    await shot(page, 'tailor-4-cut');
  });

  it('takes the cut back, and makes it again', async () => {
    await pause(page);
    await page.locator('canvas.view').focus();
    const { mesh } = await look();
    await page.keyboard.press('Control+z');
    await changed(mesh);
    assert.equal((await look()).parts.length, 1);
    await page.keyboard.press('Control+Shift+z');
    await changed((await look()).mesh).catch(() => {});
    await until(page, () => window.toile.room.redo === null, 'nothing left to redo');
    assert.equal((await look()).parts.length, 2);
    // Sewn before its corners turn over: what is caught in a fold cannot meet.
    for (let k = 0; k < 3; k += 1) {
      const from = await page.evaluate(() => window.toile.room.tick);
      await page.keyboard.press('.');
      await until(page, (tick) => window.toile.tick === tick, 'one frame more', from + 1);
    }
  });

  it('removes what is brushed over', async () => {
    await pause(page);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('x');
    const { x, y } = await page.evaluate(([id, held]) => {
      // A place halfway between a held border and the cut.
      const p = window.toile.positions(id);
      const canvas = document.querySelector('canvas.view');
      const rows = held.map((v) => [p[3 * v], p[3 * v + 1], p[3 * v + 2]]);
      const away = (v) => Math.min(...rows.map((row) => Math.hypot(...row.map((value, axis) => value - p[3 * v + axis]))));
      const seen = [];
      for (let v = 0; v < p.length / 3; v += 1) {
        const [px, py] = window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
        if (document.elementFromPoint(px, py) === canvas) seen.push({ x: px, y: py, off: Math.abs(away(v) - 0.22) });
      }
      const cx = seen.reduce((sum, one) => sum + one.x, 0) / seen.length;
      seen.sort((a, b) => a.off + Math.abs(a.x - cx) / 400 - b.off - Math.abs(b.x - cx) / 400);
      return seen[0];
    }, [sheet, await group('bottom')]);
    await page.mouse.move(x, y);
    await until(page, () => document.querySelector('.chalk-faces').hasAttribute('d'), 'what would go');
    const marked = await page.evaluate(() => document.querySelector('.chalk-faces').getAttribute('d').split('M').length - 1);
    const before = await look();
    await shot(page, 'tailor-5-marked');
    await page.mouse.click(x, y);
    await changed(before.mesh);
    const now = await look();
    assert.equal(now.faces, before.faces - marked, 'what was marked is gone');
    await shot(page, 'tailor-5-removed');
    await certified();
  });

  it('does not sew borders that do not fit, and goes on with the first', async () => {
    await page.keyboard.press('s');
    const { parts, holes } = await look();
    assert.equal(parts.length, 2);
    assert.equal(holes.length, 1);
    const first = await inside((await acrossCut(parts))[0]);
    await page.mouse.click(first.x, first.y);
    await until(page, () => document.querySelector('.chalk-first').hasAttribute('d'), 'the first border');
    const rim = await inside(holes[0][0]);
    await page.mouse.move(rim.x, rim.y);
    await until(page, () => document.querySelector('.chalk-misfits').hasAttribute('d'), 'pairs that do not fit');
    await shot(page, 'tailor-6-misfits');
    await page.mouse.click(rim.x, rim.y);
    await page.locator('.refusal').waitFor();
    assert.match(await refusal(), /^The borders have \d+ and \d+ vertices/);
    assert.ok(await page.evaluate(() => document.querySelector('.chalk-first').hasAttribute('d')), 'the first border waits');
    assert.doesNotMatch(await page.evaluate(() => window.toile.room.undo ?? ''), /sew/);
    // The same border again is no other one.
    await page.mouse.click(first.x, first.y);
    await until(page, () => /same border/.test(document.querySelector('.refusal:not([hidden])')?.textContent ?? ''), 'a word about it');
  });

  it('says how far a seam is from closing, and what keeps it open', async () => {
    const { parts } = await look();
    const { x, y } = await inside((await acrossCut(parts))[1]);
    await page.mouse.move(x, y);
    await until(page, () => document.querySelector('.chalk-pairs').hasAttribute('d'), 'the pairs');
    await shot(page, 'tailor-6-pairs');
    await page.mouse.click(x, y);
    await until(page, () => /sew/.test(window.toile.room.undo ?? '') || document.querySelector('.refusal:not([hidden])'), 'a seam');
    assert.equal(await refusal(), undefined);
    assert.match(await page.locator('.seams').textContent(), /^Sewing sheet: [\d.]+ mm apart$/);
    const [seam] = await page.evaluate(() => window.toile.room.seams);
    assert.ok(seam.object === sheet && seam.pairs > 10 && seam.distance > seam.sewn_at && seam.stuck === null);
    // Pins all over the cut.
    await tool(page, 'Pin');
    const places = [];
    for (const vertex of parts.flat()) places.push(await onPage(vertex));
    const [[left, right], [top, bottom]] = [0, 1].map((axis) => [Math.min(...places.map((at) => at[axis])) - 8, Math.max(...places.map((at) => at[axis])) + 8]);
    await page.keyboard.down('Shift');
    await page.mouse.move(left, top);
    await page.mouse.down();
    await page.mouse.move(right, bottom, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await until(page, () => /pin/.test(window.toile.room.undo ?? ''), 'pins');
    await play(page);
    await until(page, () => document.querySelector('.seams.stuck:not([hidden])'), 'a word about the pins');
    assert.match(await page.locator('.seams').textContent(), /stays open by [\d.]+ mm: pins hold vertices \d+ and \d+.*unpin/);
    await shot(page, 'tailor-6-stuck');
    await pause(page);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('Control+z');
    await until(page, () => /sew/.test(window.toile.room.undo ?? ''), 'no more pins');
  });

  it('sews two borders: threads draw them together until they are one', async () => {
    const { mesh } = await look();
    await play(page);
    await ticks(page, 8);
    await shot(page, 'tailor-6-drawn');
    await changed(mesh);
    const now = await look();
    assert.equal(now.parts.length, 1, 'one cloth again');
    assert.ok(now.finite);
    await until(page, () => window.toile.room.seams.length === 0 && document.querySelector('.seams').hidden, 'nothing left to sew');
    await ticks(page, 10);
    await certified();
    await shot(page, 'tailor-6-sewn');
  });

  it('fills the hole', async () => {
    await pause(page);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('l');
    const before = await look();
    assert.equal(before.holes.length, 1);
    const { x, y } = await inside(before.holes[0][0]);
    await page.mouse.move(x, y);
    await until(page, () => document.querySelector('.chalk-border').hasAttribute('d'), 'the border of the hole');
    await shot(page, 'tailor-7-hole');
    await page.mouse.click(x, y);
    await changed(before.mesh);
    const now = await look();
    assert.ok(now.faces > before.faces);
    assert.equal(now.holes.length, 0);
    await play(page);
    await ticks(page, 5);
    await certified();
    await shot(page, 'tailor-7-filled');
  });

  it('is made again by its recording, to the bit', async () => {
    await pause(page);
    await page.getByRole('button', { name: 'Save and export' }).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download recording' }).click()]);
    const told = execFileSync(BIN, ['replay', await saved.path()], { encoding: 'utf8', timeout: PATIENCE });
    // It fails if the cloth is not the same.
    assert.match(told, /^[0-9a-f]{16}/);
  });

  it('works with a finger', async () => {
    await tool(page, 'Remove');
    const fingers = await opened.context.newCDPSession(page);
    await fingers.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
    const before = await look();
    const at = await middle();
    const touch = (type, list) => fingers.send('Input.dispatchTouchEvent', { type, touchPoints: list.map(({ x, y }, id) => ({ x, y, id })) });
    await touch('touchStart', [at]);
    await touch('touchMove', [{ x: at.x + 12, y: at.y }]);
    await touch('touchEnd', []);
    await changed(before.mesh);
    assert.ok((await look()).faces < before.faces);
    await fingers.send('Emulation.setTouchEmulationEnabled', { enabled: false });
    await fingers.detach();
  });

  it('has had no error', () => {
    assert.deepEqual(opened.wrongs, []);
  });
});
