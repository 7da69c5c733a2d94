import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BUILT_IN_RATES, type RateCardFile } from '../../../src/money/pricing/rate-card.ts';
import { findRateCards } from '../../../src/money/pricing/rate-cards.sql.ts';
import {
  describeSuperseded,
  loadRates,
  RateCards,
  readRatesFile,
  SHOWN_MS_MAX,
} from '../../../src/money/pricing/rate-cards.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';

const DEAR: RateCardFile = { ...BUILT_IN_RATES, platform_fee_per_gib: '0.50' };

describe('loadRates', () => {
  const database = useDatabase();

  it('gives an empty database the built-in card, once', async () => {
    const loads = await Promise.all(
      Array.from({ length: 8 }, () => loadRates(database.pool, OPERATOR, undefined)),
    );
    expect(loads.filter(({ loaded }) => loaded)).toHaveLength(1);
    expect(loads.every(({ version }) => version === 1)).toBe(true);
    expect((await new RateCards().current(database.pool)).platformFeePerGib).toBe(20_000n);
  });

  it('makes one version of a new card, even if many processes load it at once', async () => {
    const loads = await Promise.all(
      Array.from({ length: 8 }, () => loadRates(database.pool, OPERATOR, DEAR)),
    );
    expect(loads.filter(({ loaded }) => loaded)).toHaveLength(1);
    expect(loads.every(({ version }) => version === 2)).toBe(true);
  });

  it('keeps the newest card when none is given', async () => {
    expect(await loadRates(database.pool, OPERATOR, undefined)).toEqual({ version: 2, loaded: false });
    const cards = new RateCards();
    expect((await cards.current(database.pool)).platformFeePerGib).toBe(500_000n);
    expect((await cards.version(database.pool, 1)).platformFeePerGib).toBe(20_000n);
  });

  it('loads a card that was in effect before only if told to', async () => {
    const refused = await loadRates(database.pool, OPERATOR, BUILT_IN_RATES);
    expect(refused).toEqual({ version: 2, loaded: false, superseded: 1 });
    expect(describeSuperseded(refused)).toContain('old version 1, and version 2 is in effect');
    const again = await loadRates(database.pool, OPERATOR, BUILT_IN_RATES, { again: true });
    expect(again).toEqual({ version: 3, loaded: true });
    expect((await findRateCards(database.pool)).map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('compares prices, not their notation', async () => {
    const card = { ...BUILT_IN_RATES, platform_fee_per_gib: '0.020' };
    expect(await loadRates(database.pool, OPERATOR, card)).toEqual({ version: 3, loaded: false });
  });

  it('goes by versions, even if the clock was set back after the newest one was loaded', async () => {
    await database.pool.query(
      `insert into rate_cards (version, effective_at, card)
       select 4, now() + interval '1 hour', card from rate_cards where version = 2`,
    );
    const { version, platformFeePerGib } = await new RateCards().current(database.pool);
    expect([version, platformFeePerGib]).toEqual([4, 500_000n]);
    expect(await loadRates(database.pool, OPERATOR, DEAR)).toEqual({ version: 4, loaded: false });
  });

  it('shows a crowd the card of some seconds ago by one read, and keeps no failure', async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const query = vi.spyOn(database.pool, 'query');
    onTestFinished(() => {
      clock.mockRestore();
      query.mockRestore();
    });
    const cards = new RateCards();
    const versions = async () =>
      new Set(
        (await Promise.all(Array.from({ length: 50 }, () => cards.shown(database.pool)))).map(
          ({ version }) => version,
        ),
      );
    query.mockImplementationOnce(() => Promise.reject(new Error('no database')));
    await expect(cards.shown(database.pool)).rejects.toThrow('no database');
    expect(await versions()).toEqual(new Set([4]));
    expect(query).toHaveBeenCalledTimes(2);
    await loadRates(database.pool, OPERATOR, BUILT_IN_RATES, { again: true });
    now = SHOWN_MS_MAX - 1;
    expect(await versions()).toEqual(new Set([4]));
    now = SHOWN_MS_MAX;
    expect(await versions()).toEqual(new Set([5]));
  });

  it('never changes a version', async () => {
    for (const statement of [
      `update rate_cards set card = '{}' where version = 1`,
      'delete from rate_cards where version = 3',
      'truncate rate_cards cascade',
    ]) {
      await expectAppendOnly(database, 'rate_cards', statement);
    }
  });
});

describe('readRatesFile', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'boxoffice-rates-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('reads a card', async () => {
    const path = join(folder, 'rates.json');
    await writeFile(path, JSON.stringify(DEAR));
    expect(await readRatesFile(path)).toEqual(DEAR);
  });

  it.each([
    ['no JSON', '{'],
    ['another field', JSON.stringify({ ...DEAR, surprise: true })],
    ['an amount that is a number', JSON.stringify({ ...DEAR, platform_fee_per_gib: 0.02 })],
  ])('names the file that holds %s', async (_, text) => {
    const path = join(folder, 'wrong.json');
    await writeFile(path, text);
    await expect(readRatesFile(path)).rejects.toThrow(`rate card ${path}: `);
  });

  it('names a missing file', async () => {
    const path = join(folder, 'absent.json');
    await expect(readRatesFile(path)).rejects.toThrow(`rate card ${path}: ENOENT`);
  });
});
