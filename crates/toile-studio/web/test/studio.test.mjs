// People at the studio, by a real browser: TOILE_BIN is the program, TOILE_SHOTS the folder for pictures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import {
  PATIENCE,
  clothId,
  freeVertex,
  missing,
  openPage,
  openTab,
  pause,
  play,
  settled,
  shot,
  startBrowser,
  startStudio,
  ticks,
  tool,
  unfold,
  until,
  vertexAt,
} from './harness.mjs';

const distance = (a, b) => Math.hypot(...a.map((value, k) => value - b[k]));

/** Names that would run, were they ever markup. */
const HOSTILE = [
  '<img/src=x/onerror=window.hurt=1>',
  '<svg/onload=window.hurt=1>',
  '"><script>window.hurt=1</script>',
  "javascript:window.hurt=1",
  '${window.hurt=1}',
  '{{constructor.constructor("window.hurt=1")()}}',
];

describe('the studio', { skip: missing(), timeout: 15 * PATIENCE }, () => {
  let studio;
  let chrome;
  let first;
  let page;
  let sheet;

  before(async () => {
    studio = await startStudio('hang', '--set', 'cloth.sheet.shape.resolution=16');
    chrome = await startBrowser();
    first = await openPage(chrome.browser, studio.link);
    page = first.page;
    sheet = await clothId(page);
  });

  after(async () => {
    await chrome?.stop();
    await studio?.stop();
  });

  it('shows cloth that moves', async () => {
    await play(page);
    const before = await page.evaluate((id) => window.toile.positions(id), sheet);
    await ticks(page, 5);
    const now = await page.evaluate((id) => window.toile.positions(id), sheet);
    assert.equal(now.length, before.length);
    assert.ok(now.every(Number.isFinite));
    assert.ok(Math.max(...now.map((value, k) => Math.abs(value - before[k]))) > 1e-4, 'nothing moved');
    await shot(page, 'moves');
  });

  it('says that the cloth is certified', async () => {
    await until(page, () => document.querySelector('.lamp').dataset.state === 'good', 'the green lamp');
  });

  it('holds still and goes on by one frame', async () => {
    await pause(page);
    const from = await page.evaluate(() => window.toile.tick);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('.');
    await until(page, (goal) => window.toile.tick === goal, 'one frame more', from + 1);
    await settled(page);
  });

  it('lets a hand take a corner, lead it and let it go', async () => {
    await pause(page);
    await tool(page, 'Grab');
    const { x, y } = await freeVertex(page, sheet);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await until(page, () => window.toile.hands.length === 1, 'a hand that holds cloth');
    const [{ object, vertex }] = await page.evaluate(() => window.toile.hands);
    assert.equal(object, sheet);
    await play(page);
    const [toX, toY] = [x + (x < 320 ? 60 : -60), Math.max(90, y - 60)];
    await page.mouse.move(toX, toY, { steps: 6 });
    const near = (reach) => {
      const [hand] = window.toile.hands;
      const p = window.toile.positions(hand.object).slice(3 * hand.vertex, 3 * hand.vertex + 3);
      return Math.hypot(...p.map((value, k) => value - hand.to[k])) < reach;
    };
    await until(page, near, 'the corner to follow the hand', 0.05);
    await ticks(page, 5);
    await until(page, near, 'the corner to stay with the hand', 0.05);
    await shot(page, 'grabbed');
    const held = await vertexAt(page, object, vertex);
    await page.mouse.up();
    await until(page, () => window.toile.hands.length === 0, 'the hand to let go');
    const gone = ([o, v, place]) => {
      const p = window.toile.positions(o).slice(3 * v, 3 * v + 3);
      return Math.hypot(...p.map((value, k) => value - place[k])) > 0.03;
    };
    await until(page, gone, 'the corner to fall', [object, vertex, held]);
  });

  it('pins a vertex, which then stays', async () => {
    await pause(page);
    await tool(page, 'Pin');
    const { x, y } = await freeVertex(page, sheet);
    const before = await page.evaluate((id) => window.toile.panels.pinned.find(([one]) => one === id)?.[1] ?? [], sheet);
    await page.mouse.click(x, y);
    const more = ([id, number]) => (window.toile.panels.pinned.find(([one]) => one === id)?.[1].length ?? 0) === number;
    await until(page, more, 'one more pin', [sheet, before.length + 1]);
    const now = await page.evaluate((id) => window.toile.panels.pinned.find(([one]) => one === id)[1], sheet);
    const vertex = now.find((one) => !before.includes(one));
    const place = await vertexAt(page, sheet, vertex);
    await play(page);
    await ticks(page, 15);
    const later = await vertexAt(page, sheet, vertex);
    assert.ok(distance(place, later) < 1e-3, `the pinned vertex moved by ${distance(place, later)} m`);
    await shot(page, 'pinned');
  });

  it('pins what is inside a box, and undoes that', async () => {
    await pause(page);
    await tool(page, 'Pin');
    const pins = (id) => window.toile.panels.pinned.find(([one]) => one === id)?.[1].length ?? 0;
    const before = await page.evaluate(pins, sheet);
    // A box must begin on the view; where it ends does not matter. The vertex nearest to the middle that allows it.
    const { x, y, dx, dy } = await page.evaluate((id) => {
      const p = window.toile.positions(id);
      const canvas = document.querySelector('canvas.view');
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const on = (x, y) => document.elementFromPoint(x, y) === canvas;
      const found = [];
      for (let v = 0; v < p.length / 3; v += 1) {
        const [x, y] = window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
        const corners = [60, 40].flatMap((d) => [[d, d], [-d, d], [d, -d], [-d, -d]]);
        const corner = corners.find(([dx, dy]) => on(x, y) && on(x + dx, y + dy));
        const away = Math.hypot(x - left - width / 2, y - top - height / 2);
        if (corner) found.push({ x, y, dx: corner[0], dy: corner[1], away });
      }
      found.sort((a, b) => a.away - b.away);
      return found[0];
    }, sheet);
    await page.keyboard.down('Shift');
    await page.mouse.move(x + dx, y + dy);
    await page.mouse.down();
    await page.mouse.move(x - dx, y - dy, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    const number = ([id, low, high]) => {
      const now = window.toile.panels.pinned.find(([one]) => one === id)?.[1].length ?? 0;
      return now >= low && now <= high;
    };
    await until(page, number, 'more than one more pin', [sheet, before + 2, 289]);
    await page.keyboard.press('Control+z');
    await until(page, number, 'the pins of before', [sheet, before, before]);
  });

  it('lets two fingers hold two places', async () => {
    await pause(page);
    await tool(page, 'Grab');
    const points = await page.evaluate((id) => {
      const p = window.toile.positions(id);
      const canvas = document.querySelector('canvas.view');
      const seen = [];
      for (let v = 0; v < p.length / 3; v += 1) {
        const [x, y] = window.toile.project(p[3 * v], p[3 * v + 1], p[3 * v + 2]);
        if (document.elementFromPoint(x, y) === canvas) seen.push({ x, y });
      }
      seen.sort((a, b) => a.x - b.x);
      return [seen[Math.floor(0.3 * seen.length)], seen[Math.floor(0.7 * seen.length)]];
    }, sheet);
    const fingers = await first.context.newCDPSession(page);
    await fingers.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
    const touch = (type, list) => fingers.send('Input.dispatchTouchEvent', { type, touchPoints: list.map(({ x, y }, id) => ({ x, y, id })) });
    await touch('touchStart', [points[0]]);
    await touch('touchStart', points);
    await until(page, () => window.toile.hands.length === 2, 'two hands');
    const hands = await page.evaluate(() => window.toile.hands);
    assert.notEqual(hands[0].hand, hands[1].hand);
    assert.notEqual(hands[0].vertex, hands[1].vertex);
    await touch('touchMove', points.map(({ x, y }) => ({ x, y: y - 20 })));
    await play(page);
    await ticks(page, 5);
    await touch('touchEnd', []);
    await until(page, () => window.toile.hands.length === 0, 'no hands');
    await fingers.send('Emulation.setTouchEmulationEnabled', { enabled: false });
    await fingers.detach();
  });

  it('drops a ball, and takes it away again', async () => {
    await pause(page);
    await tool(page, 'Drop');
    const { x, y } = await freeVertex(page, sheet);
    const before = await page.evaluate(() => window.toile.scene.objects.length);
    await page.mouse.click(x, y);
    await until(page, (number) => window.toile.scene.objects.length === number, 'one object more', before + 1);
    const guest = await page.evaluate(() => window.toile.scene.objects.find((object) => object.guest));
    assert.ok(guest);
    await play(page);
    const high = await vertexAt(page, guest.id, 0);
    const falls = ([id, y]) => window.toile.positions(id)[1] < y - 0.02;
    await until(page, falls, 'the ball to fall', [guest.id, high[1]]);
    await shot(page, 'dropped');
    await openTab(page, 'Scene');
    await page.getByRole('button', { name: `Remove ${guest.name}` }).click();
    await until(page, (id) => window.toile.scene.objects.every((object) => object.id !== id), 'the ball to be gone', guest.id);
  });

  it('changes the fabric, and undoes and redoes that', async () => {
    await openTab(page, 'Scene');
    const section = await unfold(page, 'Fabric');
    const density = (id) => window.toile.panels.fabrics.find(([one]) => one === id)[1].density;
    const before = await page.evaluate(density, sheet);
    const field = section.getByLabel('Density', { exact: true });
    await field.fill('321');
    await field.press('Enter');
    await field.blur();
    const is = ([id, wanted]) => Math.abs(window.toile.panels.fabrics.find(([one]) => one === id)[1].density - wanted) < 1e-9;
    await until(page, is, 'another density', [sheet, 0.321]);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('Control+z');
    await until(page, is, 'the density of before', [sheet, before]);
    await page.keyboard.press('Control+Shift+z');
    await until(page, is, 'the other density again', [sheet, 0.321]);
  });

  it('blows a gust along a drag', async () => {
    await pause(page);
    await tool(page, 'Wind');
    const box = await page.locator('canvas.view').boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x - 60, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y, { steps: 4 });
    await shot(page, 'gust');
    await page.mouse.up();
    await openTab(page, 'Room');
    const log = await unfold(page, 'Changes');
    await log.getByText(/gust/i).first().waitFor();
    await play(page);
    await ticks(page, 3);
  });

  it('sets the wind in its panel, and undoes that', async () => {
    await openTab(page, 'Scene');
    const section = await unfold(page, 'Wind & gravity');
    const field = section.getByLabel('Gusts', { exact: true });
    await field.fill('3');
    await field.press('Enter');
    await field.blur();
    await until(page, () => window.toile.panels.wind.gust === 3, 'gusts of 3 m/s');
    await page.locator('canvas.view').focus();
    await page.keyboard.press('Control+z');
    await until(page, () => window.toile.panels.wind.gust === 0, 'the wind of before');
  });

  it('says in amber that nothing is guaranteed any more, and takes that back', async () => {
    await openTab(page, 'Scene');
    const section = await unfold(page, 'Contact');
    const guarantee = section.getByLabel('Guarantee: nothing passes through');
    await guarantee.click();
    await play(page);
    await ticks(page, 2);
    await until(page, () => document.querySelector('.lamp').dataset.state === 'open', 'the amber lamp');
    assert.match(await page.locator('.lamp').textContent(), /Not guaranteed/);
    // What runs on unguarded may pass through itself, and stay so.
    await pause(page);
    await shot(page, 'amber');
    await guarantee.click();
    await play(page);
    await ticks(page, 2);
    await until(page, () => document.querySelector('.lamp').dataset.state === 'good', 'the green lamp again');
  });

  it('explains what holds a vertex', async () => {
    await pause(page);
    await tool(page, 'Explain');
    const { x, y } = await freeVertex(page, sheet);
    await page.mouse.click(x, y);
    await page.locator('.sentence').waitFor();
    assert.ok((await page.locator('.sentence').textContent()).length > 10);
    const bars = page.getByRole('list', { name: 'Forces by source' }).getByRole('listitem');
    assert.ok((await bars.count()) >= 2);
    assert.match(await bars.first().textContent(), /[mµnk]?N$/);
    await shot(page, 'explained');
    await page.keyboard.press('Escape');
    await until(page, () => window.toile.chosen === null, 'no vertex to be asked about');
  });

  it('colours by strain, with a legend', async () => {
    await openTab(page, 'Inspect');
    await unfold(page, 'Overlays');
    await page.getByRole('button', { name: 'Strain' }).click();
    await play(page);
    await page.locator('.legend').waitFor();
    await ticks(page, 3);
    assert.match(await page.locator('.legend').textContent(), /%/);
    await shot(page, 'strain');
    await page.getByRole('button', { name: 'Fabric', exact: true }).click();
    await page.locator('.legend').waitFor({ state: 'hidden' });
  });

  it('shows recorded frames and comes back to the present', async () => {
    await pause(page);
    const [begin, end] = await page.evaluate(() => [window.toile.room.first_recorded, window.toile.room.tick]);
    assert.ok(end - begin > 10);
    await page.locator('canvas.view').focus();
    await page.keyboard.press('Home');
    await until(page, (tick) => window.toile.recorded && window.toile.tick === tick, 'the first recorded frame', begin);
    const box = await page.getByRole('slider', { name: 'Recorded frames' }).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const middle = ([low, high]) => window.toile.recorded && Math.abs(window.toile.tick - (low + high) / 2) <= 0.1 * (high - low);
    await until(page, middle, 'a frame of the middle', [begin, end]);
    await shot(page, 'scrubbed');
    await page.getByRole('button', { name: 'Show the present (End)' }).click();
    await until(page, (tick) => !window.toile.recorded && window.toile.tick === tick, 'the present', end);
  });

  it('lets two pages share one cloth', async () => {
    const path = await page.evaluate(async () => (await (await fetch('/api/invite?room=studio', { method: 'POST' })).json()).path);
    const second = await openPage(chrome.browser, new URL(path, page.url()).href);
    try {
      await until(page, () => window.toile.room.people.length === 2, 'two people');
      await play(second.page);
      await ticks(page, 5);
      await ticks(second.page, 5);
      await pause(page);
      await settled(second.page);
      const state = () => ({ tick: window.toile.tick, of: window.toile.stats.tick, fingerprint: window.toile.fingerprint });
      const [a, b] = [await page.evaluate(state), await second.page.evaluate(state)];
      assert.deepEqual(a, b);
      const places = (id) => window.toile.positions(id);
      assert.deepEqual(await page.evaluate(places, sheet), await second.page.evaluate(places, sheet));
      assert.deepEqual(second.wrongs, []);
    } finally {
      await second.context.close();
    }
    await until(page, () => window.toile.room.people.length === 1, 'the other to be gone');
  });

  it('takes names as words, whatever is in them', async () => {
    const obj = ['v 0 0 0', 'v 0.2 0 0', 'v 0 0 0.2', 'v 0.2 0 0.2'];
    HOSTILE.forEach((name, k) => obj.push(`o ${name}`, `g ${name}`, k % 2 ? 'f 1 3 2' : 'f 2 3 4'));
    const file = { name: `${HOSTILE[0].replaceAll('/', ' ')}.obj`, mimeType: 'model/obj', buffer: Buffer.from(obj.slice(0, 10).join('\n')) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('dialog').getByRole('button', { name: 'Cloth' }).click();
    await shot(page, 'import');
    const before = await page.evaluate(() => window.toile.scene.objects.length);
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await until(page, (number) => window.toile.scene.objects.length > number || document.querySelector('.note.error'), 'an answer', before);
    if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape');
    await openTab(page, 'Room');
    await unfold(page, 'People');
    for (const name of HOSTILE) {
      await page.getByLabel('Your name').fill(name.slice(0, 40));
      await page.getByLabel('Your name').press('Enter');
      await until(page, (wanted) => window.toile.connected && window.toile.room.people.some(([, one]) => one === wanted), `to be called ${name}`, name.slice(0, 40));
    }
    await openTab(page, 'Scene');
    await page.waitForTimeout(300);
    await shot(page, 'names');
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.equal(await page.locator('.side img, .side script, .topbar img').count(), 0);
  });

  it('saves the picture, the frame and the recording', async () => {
    for (const [item, ending, begins] of [['Save picture', '.png', '\u0089PNG'], ['Export frame', '.obj', '#'], ['Download recording', '.jsonl', '{"toile"']]) {
      await page.getByRole('button', { name: 'Save and export' }).click();
      const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: item }).click()]);
      assert.ok(saved.suggestedFilename().endsWith(ending), saved.suggestedFilename());
      const bytes = readFileSync(await saved.path());
      assert.ok(bytes.length > 500, `${item} has ${bytes.length} bytes`);
      assert.ok(bytes.toString('latin1').startsWith(begins), `${item} begins with ${bytes.toString('latin1', 0, 20)}`);
    }
  });

  it('opens another scene from the gallery', async () => {
    await page.getByRole('button', { name: 'Open a scene (O)' }).click();
    const card = page.getByRole('dialog').getByRole('button', { name: /^sphere(?!-)/ });
    await card.waitFor();
    await until(page, () => [...document.querySelectorAll('.card img')].some((image) => image.naturalWidth > 0), 'a picture');
    await shot(page, 'gallery');
    await card.click();
    await until(page, () => window.toile.scene.name === 'sphere', 'the other scene');
    await play(page);
    await ticks(page, 2);
    await pause(page);
  });

  it('keeps its parts inside the window, in both themes and on a tablet', async () => {
    for (const [width, height, scheme] of [[1280, 720, 'dark'], [1280, 720, 'light'], [1024, 768, 'light']]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: scheme });
      await until(page, (wanted) => document.documentElement.dataset.theme === wanted, `the ${scheme} theme`, scheme);
      for (const name of ['Scene', 'Inspect', 'Room']) {
        await openTab(page, name);
        const outside = await page.evaluate(() =>
          [...document.querySelectorAll('.topbar *, .timeline *, .tabs *, .tools *')]
            .filter((node) => node.getClientRects().length > 0)
            .filter((node) => {
              const box = node.getBoundingClientRect();
              return box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.left < -1 || box.top < -1;
            })
            .map((node) => node.outerHTML.slice(0, 120)),
        );
        assert.deepEqual(outside, []);
        assert.ok(await page.evaluate(() => [...document.querySelectorAll('.tab-body')].every((body) => body.scrollWidth <= body.clientWidth + 1)));
        await shot(page, `${width}-${scheme}-${name.toLowerCase()}`);
      }
    }
    await page.setViewportSize({ width: 960, height: 540 });
  });

  it('names everything that can be pressed', async () => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, [role=slider], canvas[tabindex]')]
        .filter((node) => node.getClientRects().length > 0)
        .filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length))
        .map((node) => node.outerHTML.slice(0, 160)),
    );
    assert.deepEqual(nameless, []);
  });

  it('has had no error and no forbidden script', () => {
    assert.deepEqual(first.wrongs, []);
  });

  it('says when the engine is gone', async () => {
    await studio.stop();
    await until(page, () => !window.toile.connected && !document.querySelector('.link').hidden, 'the page to notice');
    assert.match(await page.locator('.link').textContent(), /engine|Connecting/);
  });
});
