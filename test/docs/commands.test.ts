/**
 * The commands of the pages run in their order, each page in a scene of its own, and what they print is what the page shows.
 *
 * `npm start` is not run, nor is any other script that would take long: that they are there and take their arguments is
 * checked (`stand-ins.ts`).
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLog } from '../../src/base/telemetry/log.ts';
import { useService } from '../support/service.ts';
import { BLOCKS, type Block, PAGES, runnerOf } from './blocks.ts';
import { supply } from './needs.ts';
import { Scene, withDates } from './scene.ts';

const logged: string[] = [];

const SETTINGS: Parameters<typeof useService>[0] = {
  log: makeLog('info', { write: (line: string) => void logged.push(line) }),
  publicUrl: 'https://boxoffice.example.org',
  checkoutOptions: { tax: false, taxIds: false, invoices: true },
};

/** What a page needs where it counts everything that a service has. */
const OWN_SERVICE = 'a service of its own';

interface Act {
  readonly name: string;
  readonly blocks: Block[];
  readonly hasOwnService: boolean;
}

/** The commands of a page, up to those that need a service of their own. */
function actsOf(page: string): Act[] {
  const acts: Act[] = [];
  for (const block of BLOCKS) {
    if (block.page !== page || !['commands', 'json'].includes(runnerOf(block)!)) continue;
    const hasOwnService = block.notes.needs?.startsWith(OWN_SERVICE) ?? false;
    if (acts.length === 0 || hasOwnService) acts.push({ name: block.where, blocks: [], hasOwnService });
    acts.at(-1)!.blocks.push(block);
  }
  return acts.filter(({ blocks }) => blocks.some((block) => runnerOf(block) === 'commands'));
}

const shared = useService(SETTINGS);

describe.each(PAGES.flatMap(actsOf))('from $name on', ({ blocks, hasOwnService }) => {
  const app = hasOwnService ? useService(SETTINGS) : shared;
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(app, { hasTenant: !hasOwnService });
  });
  afterAll(() => scene.close());

  test.each(blocks)('the block at $where', async (block) => {
    const { language, notes, text } = block;
    if (notes.needs !== undefined) await supply(scene, notes.needs);
    if (notes.file !== undefined) await writeFile(join(scene.folder, notes.file), text);
    if (notes['line of'] !== undefined) return scene.expectLine(block);
    // Requests, events and files are no answers: their schemas are enough.
    if (language === 'json' && !/ \d{3}$/.test(notes.json!)) return;
    if (language === 'json') scene.expectAnswer(block);
    else if (notes.output !== undefined) scene.expectOutput(block);
    else if (notes.logged !== undefined) scene.expectLogged(block, logged);
    else if (notes.answer !== undefined) await scene.expectPart(block);
    else await scene.run(block);
  });
});

test('days of the pages are as long ago as they were on 23 November 2026', () => {
  const on = (text: string) => withDates(text, new Date('2027-03-02T12:00:00Z'));
  expect(on('--from 2026-11-22 --to 2026-11-23')).toBe('--from 2027-03-01 --to 2027-03-02');
  expect(on('from=2026-11-01&to=2026-12-01')).toBe('from=2027-03-01&to=2027-04-01');
  expect(on('2026-10.json and 2026-11-21T06:30:00Z')).toBe('2027-01.json and 2027-02-28T06:30:00Z');
});
