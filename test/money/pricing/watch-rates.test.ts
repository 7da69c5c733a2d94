import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { repeat } from '../../../src/base/lib/repeat.ts';
import { BUILT_IN_RATES, type RateCardFile } from '../../../src/money/pricing/rate-card.ts';
import { loadRates, RateCards } from '../../../src/money/pricing/rate-cards.ts';
import { watchRates } from '../../../src/money/pricing/watch-rates.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
const lines: string[] = [];
let folder: string;
let path: string;
let watch: { stop(): Promise<void> };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-rates-'));
  path = join(folder, 'rates.json');
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  lines.length = 0;
  await writeFile(path, JSON.stringify(BUILT_IN_RATES));
  await loadRates(database.pool, OPERATOR, BUILT_IN_RATES, { again: true });
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  watch = repeat(0.02, watchRates({ db: database.pool, log }, path), (error) => log.error({ err: error }));
});
afterEach(() => watch.stop());

/** Run a statement on another database of the server. */
async function runElsewhere(text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client(inject('adminUrl'));
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

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

  it('loads a card that changed while the database could not be opened', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const isTold = (line: string) =>
      line.includes('the rates file is loaded again once the database is back');
    await runElsewhere(`alter database ${name} with allow_connections false`);
    try {
      await runElsewhere('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      await writeFile(path, JSON.stringify(withFee('0.2')));
      await expect.poll(() => lines.some(isTold)).toBe(true);
    } finally {
      await runElsewhere(`alter database ${name} with allow_connections true`);
    }
    await expect.poll(current).toMatchObject({ platformFeePerGib: 200_000n });
    expect(lines.filter(isTold)).toHaveLength(1);
  });

  it('loads the card again into a database that was restored to a time before it', async () => {
    await watch.stop();
    await writeFile(path, JSON.stringify(withFee('0.3')));
    const turn = watchRates({ db: database.pool, log: pino({ level: 'silent' }) }, path);
    await turn();
    const { version } = await current();
    await withoutTriggers(database.pool, ['rate_cards'], (tx) =>
      tx.query('delete from rate_cards where version = $1', [version]),
    );
    expect(await current()).toMatchObject({ platformFeePerGib: 20_000n });
    await turn();
    expect(await current()).toMatchObject({ version, platformFeePerGib: 300_000n });
  });

  it('ignores a file that holds an earlier card, and says so once for each version', async () => {
    const card = withFee('0.4');
    await writeFile(path, JSON.stringify(card));
    await expect.poll(current).toMatchObject({ platformFeePerGib: 400_000n });
    const { version } = await current();
    await loadRates(database.pool, OPERATOR, withFee('0.5'));
    await expect.poll(() => lines.join('')).toContain('the rate card was not loaded');
    expect(lines.join('')).toContain(`old version ${version}, and version ${version + 1} is in effect`);
    expect(await current()).toMatchObject({ platformFeePerGib: 500_000n });
    await loadRates(database.pool, OPERATOR, card, { again: true });
    await expect.poll(current).toMatchObject({ version: version + 2, platformFeePerGib: 400_000n });
    expect(lines.filter((line) => line.includes('the rate card was not loaded'))).toHaveLength(1);
  });
});
