/**
 * Pictures of every page of both consoles, in docs/images/console, and of the video demo, in docs/images/video.
 *
 * It starts a service of its own with the sandbox, fills it with a theatre and its neighbours, and opens each page in the
 * Chromium of the machine. The list of pages is scripts/screenshots/pictures.ts. `--only <name>` takes single pictures, with
 * `video` that of the demo;
 * `--to <folder>` writes them elsewhere.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openCamera } from './screenshots/camera.ts';
import { makeLakeside } from './screenshots/lakeside.ts';
import { makeOthers } from './screenshots/others.ts';
import { OPERATOR_PICTURES, type Picture, type Stage, TENANT_PICTURES } from './screenshots/pictures.ts';
import { OPS_URL, type OwnService, PUBLIC_URL, startOwnService } from './screenshots/service.ts';
import { takeVideoDemo } from './screenshots/video-demo.ts';

const FOLDER = new URL('../docs/images', import.meta.url).pathname;
const VIDEO = { name: 'video' };

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, to: { type: 'string' } },
});

const startedAt = Date.now();

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
}

async function main(): Promise<void> {
  const folder = await makeFolder('console');
  if (isWanted(VIDEO)) {
    say('The video demo');
    await takeVideoDemo(await makeFolder('video'));
  }
  if (values.only?.every((name) => name === VIDEO.name)) return;
  say('A service starts');
  const own = await startOwnService();
  try {
    await takeAll(own, folder);
  } finally {
    await own.stop();
  }
}

async function takeAll(own: OwnService, folder: string): Promise<void> {
  const lakeside = await makeLakeside(own, say);
  const { operator, stage: ofOperators } = await makeOthers(own, lakeside, say);
  const stage: Stage = { ...lakeside.stage, ...ofOperators };
  const camera = await openCamera(own);
  try {
    const tours = [
      { pictures: TENANT_PICTURES, viewer: { url: PUBLIC_URL, cookie: 'boxoffice', person: lakeside.owner } },
      {
        pictures: OPERATOR_PICTURES,
        viewer: { url: OPS_URL, cookie: 'boxoffice-operator', person: operator },
      },
    ];
    let bytes = 0;
    const takeOf = async (as: Picture['as']) => {
      for (const { pictures, viewer } of tours) {
        for (const picture of pictures.filter((each) => each.as === as && isWanted(each))) {
          say(`${picture.name}: ${picture.shows}`);
          await own.dateSessions(as === 'a member who logged in long ago' ? 15 : 0);
          const person = as === 'a founder who has just joined' ? lakeside.founder : viewer.person;
          bytes += await camera.take(folder, picture, stage, { ...viewer, person });
        }
      }
    };
    await takeOf('nobody');
    await takeOf(undefined);
    await takeOf('a founder who has just joined');
    await takeOf('a member who logged in long ago');
    say(`Done: ${(bytes / 1_000_000).toFixed(2)} MB`);
  } finally {
    await camera.close();
    lakeside.client.close();
    lakeside.relay.close();
  }
}

async function makeFolder(name: string): Promise<string> {
  const folder = values.to === undefined ? join(FOLDER, name) : resolve(values.to);
  await mkdir(folder, { recursive: true });
  return folder;
}

function isWanted({ name }: Pick<Picture, 'name'>): boolean {
  return values.only === undefined || values.only.includes(name);
}

main().catch((error: Error) => {
  process.stderr.write(`\nNo pictures: ${error.stack}\n`);
  process.exit(1);
});
