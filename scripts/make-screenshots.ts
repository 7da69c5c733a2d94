/**
 * Pictures of every page of both consoles, in docs/images/console.
 *
 * It starts a service of its own with the sandbox, fills it with a theatre and its neighbours, and opens each page in the
 * Chromium of the machine. The list of pages is scripts/screenshots/pictures.ts. `--only <name>` takes single pictures;
 * `--to <folder>` writes them elsewhere.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openCamera } from './screenshots/camera.ts';
import { makeLakeside } from './screenshots/lakeside.ts';
import { makeOthers } from './screenshots/others.ts';
import { OPERATOR_PICTURES, type Picture, type Stage, TENANT_PICTURES } from './screenshots/pictures.ts';
import { OPS_URL, type OwnService, PUBLIC_URL, startOwnService } from './screenshots/service.ts';

const FOLDER = new URL('../docs/images/console', import.meta.url).pathname;

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, to: { type: 'string' } },
});

const startedAt = Date.now();

function say(text: string): void {
  process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
}

async function main(): Promise<void> {
  const folder = values.to === undefined ? FOLDER : resolve(values.to);
  await mkdir(folder, { recursive: true });
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
          await own.dateSessions(as === 'somebody who logged in long ago' ? 15 : 0);
          const person = as === 'a founder who has just joined' ? lakeside.founder : viewer.person;
          bytes += await camera.take(folder, picture, stage, { ...viewer, person });
        }
      }
    };
    await takeOf('nobody');
    await takeOf(undefined);
    await takeOf('a founder who has just joined');
    await takeOf('somebody who logged in long ago');
    say(`Done: ${(bytes / 1_000_000).toFixed(2)} MB`);
  } finally {
    await camera.close();
    lakeside.client.close();
    lakeside.relay.close();
  }
}

function isWanted({ name }: Picture): boolean {
  return values.only === undefined || values.only.includes(name);
}

main().catch((error: Error) => {
  process.stderr.write(`\nNo pictures: ${error.stack}\n`);
  process.exit(1);
});
