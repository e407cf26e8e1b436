// Cloth that refines itself, in the colours of B14's figure 11: what was split is red, what was put back green.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PATIENCE, clothId, missing, openPage, openTab, pause, play, shot, startBrowser, startStudio, unfold, until } from './harness.mjs';

describe('refinement at the studio', { skip: missing(), timeout: 5 * PATIENCE }, () => {
  let studio;
  let chrome;
  let opened;
  let page;
  let blank;

  before(async () => {
    studio = await startStudio('sphere-adaptive');
    chrome = await startBrowser();
    opened = await openPage(chrome.browser, studio.link);
    page = opened.page;
    blank = await opened.context.newPage();
    await page.bringToFront();
  });

  after(async () => {
    await chrome?.stop();
    await studio?.stop();
  });

  /** Pixels of the view that are clearly red. */
  const red = async () => {
    const picture = (await page.locator('canvas.view').screenshot()).toString('base64');
    // A page of its own: the studio's lets nothing in.
    return blank.evaluate(async (data) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      const draw = canvas.getContext('2d');
      draw.drawImage(image, 0, 0);
      const { data: p } = draw.getImageData(0, 0, image.width, image.height);
      let count = 0;
      for (let k = 0; k < p.length; k += 4) if (p[k] > 90 && p[k] > 2 * p[k + 1] && p[k] > 2 * p[k + 2]) count += 1;
      return count;
    }, picture);
  };

  it('shows which faces were split', async () => {
    const sheet = await clothId(page);
    const start = await page.evaluate((id) => window.toile.faces(id).length / 3, sheet);
    assert.deepEqual(await page.evaluate((id) => window.toile.marks(id), sheet), []);
    await play(page);
    await until(page, ([id, many]) => window.toile.marks(id).filter((mark) => mark === 1).length >= many, 'faces that are split', [sheet, 400]);
    await pause(page);
    const [faces, marks] = await page.evaluate((id) => [window.toile.faces(id).length / 3, window.toile.marks(id)], sheet);
    assert.ok(faces > start, `${start} faces became ${faces}`);
    assert.equal(marks.length, faces);
    assert.ok(marks.every((mark) => mark <= 2));
    await openTab(page, 'Inspect');
    await unfold(page, 'Overlays');
    const before = await red();
    await page.getByRole('button', { name: 'Splits', exact: true }).click();
    await page.locator('.legend').waitFor();
    assert.match(await page.locator('.legend').textContent(), /As it was.*Split.*Put back/);
    await page.waitForTimeout(500);
    await shot(page, 'refine-marks');
    const after = await red();
    assert.ok(after > before + 2000, `${before} red pixels became ${after}`);
    await page.getByRole('button', { name: 'Fabric', exact: true }).click();
    await page.locator('.legend').waitFor({ state: 'hidden' });
    assert.deepEqual(opened.wrongs, []);
  });
});
