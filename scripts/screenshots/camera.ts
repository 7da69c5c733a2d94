/** Takes pictures in the Chromium of the machine, as small PNGs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { CHROMIUM_PATH } from '../browser-path.ts';
import type { Person } from './person.ts';
import { LOOKS, type Picture, type Stage } from './pictures.ts';
import { OPS_URL, type OwnService, PUBLIC_URL } from './service.ts';
import { encodePng, type Pixels } from './small-png.ts';

const DESKTOP = { width: 1200, height: 900 };
const PHONE = { width: 390, height: 780 };
/** A whole page is no longer than this. */
const HEIGHT_MAX = 2_400;
/** A page that is shorter leaves the rest of the picture away. */
const HEIGHT_MIN = 320;

/** Who looks at the pages, and the cookie of their console. */
export interface Viewer {
  readonly url: string;
  readonly cookie: string;
  readonly person: Person;
}

export async function openCamera({ service }: OwnService): Promise<Camera> {
  if (CHROMIUM_PATH === undefined) throw new Error('there is no Chromium: set CHROMIUM_PATH');
  const [host, opsHost] = [new URL(PUBLIC_URL).host, new URL(OPS_URL).host];
  const rules = `MAP ${opsHost} 127.0.0.1:${service.opsPort},MAP ${host} 127.0.0.1:${service.port}`;
  const browser = await chromium.launch({
    executablePath: CHROMIUM_PATH,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      `--host-resolver-rules=${rules}`,
      // As over HTTPS, so that what is copied has its button.
      `--unsafely-treat-insecure-origin-as-secure=${PUBLIC_URL},${OPS_URL}`,
    ],
  });
  return new Camera(browser);
}

export class Camera {
  readonly #browser: Browser;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  /** All looks of a picture. Returns how many bytes the files have. */
  async take(folder: string, picture: Picture, stage: Stage, viewer: Viewer): Promise<number> {
    let bytes = 0;
    for (const look of LOOKS) {
      for (const [screen, ending] of [
        [DESKTOP, look],
        ...(picture.isOnPhone ? ([[PHONE, `phone-${look}`]] as const) : []),
      ] as const) {
        const viewport = picture.isWhole ? { ...screen, height: HEIGHT_MAX } : screen;
        const image = await this.#shoot(picture, stage, viewer, { colorScheme: look, viewport });
        await writeFile(join(folder, `${picture.name}-${ending}.png`), image);
        bytes += image.length;
      }
    }
    return bytes;
  }

  async #shoot(
    { path, route, as }: Picture,
    stage: Stage,
    { url, cookie, person }: Viewer,
    look: { colorScheme: 'light' | 'dark'; viewport: typeof DESKTOP },
  ): Promise<Buffer> {
    const context = await this.#browser.newContext({ ...look, timezoneId: 'UTC', locale: 'en-US' });
    try {
      if (as !== 'nobody') {
        await context.addCookies([{ name: cookie, value: person.secret, url }]);
      }
      const page = await context.newPage();
      const wanted = path?.(stage) ?? route;
      const answer = await page.goto(url + wanted);
      if (!answer?.ok() || page.url() !== url + wanted) {
        throw new Error(`${wanted} answered ${answer?.status()} as ${page.url()}`);
      }
      return await capture(page, look.viewport);
    } finally {
      await context.close();
    }
  }
}

/** The top of a page, as a small PNG. */
export async function capture(page: Page, { width, height }: typeof DESKTOP): Promise<Buffer> {
  const content: number = await page.evaluate(
    'Math.ceil(document.body.lastElementChild.getBoundingClientRect().bottom + scrollY)',
  );
  const clip = { x: 0, y: 0, width, height: Math.min(height, Math.max(HEIGHT_MIN, content)) };
  const png = await page.screenshot({ clip, animations: 'disabled' });
  return encodePng(await decode(page.context(), png));
}

/** Chromium knows how to read what it wrote. */
async function decode(context: BrowserContext, png: Buffer): Promise<Pixels> {
  const page = await context.newPage();
  const { width, height, rgba } = (await page.evaluate(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
    const { width, height } = bitmap;
    const drawing = new OffscreenCanvas(width, height).getContext('2d');
    drawing.drawImage(bitmap, 0, 0);
    const { data } = drawing.getImageData(0, 0, width, height);
    return { width, height, rgba: new Uint8Array(data.buffer).toBase64() };
  })()`)) as { width: number; height: number; rgba: string };
  await page.close();
  return { width, height, rgba: Buffer.from(rgba, 'base64') };
}
