import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { repeat } from '../../../src/base/lib/repeat.ts';
import { BUILT_IN_RATES, type RateCardFile } from '../../../src/money/pricing/rate-card.ts';
import { loadRates, RateCards } from '../../../src/money/pricing/rate-cards.ts';
import { watchRates } from '../../../src/money/pricing/watch-rates.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
const lines: string[] = [];
let folder: string;
let path: string;
let watch: { stop(): Promise<void> };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-rates-'));
  path = join(folder, 'rates.json');
  await loadRates(database.pool, undefined);
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  lines.length = 0;
  await writeFile(path, JSON.stringify(BUILT_IN_RATES));
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  watch = repeat(0.02, watchRates({ db: database.pool, log }, path), (error) => log.error({ err: error }));
});
afterEach(() => watch.stop());

const current = () => new RateCards().current(database.pool);
const withFee = (fee: string): RateCardFile => ({ ...BUILT_IN_RATES, platform_fee_per_gib: fee });

describe('watchRates', () => {
  it('loads the card of a changed file', async () => {
    await writeFile(path, JSON.stringify(withFee('0.123')));
    await expect.poll(current).toMatchObject({ platformFeePerGib: 123_000n });
    await expect.poll(() => lines.join('')).toContain('rate card loaded');
  });

  it('reports an invalid file, and keeps the current card', async () => {
    await expect.poll(current).toMatchObject({ platformFeePerGib: 20_000n });
    const before = await current();
    await writeFile(path, '{ "currency": "usd" }');
    await expect.poll(() => lines.join('')).toContain('the changed rate card was not loaded');
    expect(lines.join('')).toContain(path);
    expect(await current()).toEqual(before);
  });
});
