import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { withoutTriggers } from '../../support/append-only.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const admin = (...args: string[]) => runAdmin({ DATABASE_URL: db().options.connectionString! }, ...args);

let folder: string;
let draft: string;
let tenant: TestTenant;

const DRAFT = { ...BUILT_IN_RATES, platform_fee_per_gib: '0.03' };
const PERIOD = ['--from', '2026-01-01', '--to', '2026-02-01'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-simulation-'));
  draft = await write('draft.json', DRAFT);
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, card: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(card));
  return path;
}

/** One GiB in an hour, so that the fee is the price. */
const gib = () => usageRecord({ seconds: 3_600, egress_bytes: 2 ** 30 });

async function charge(records: unknown[], of = tenant): Promise<void> {
  const answer = await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
}

/** As only the owner of the tables can. The payment is posting 1. */
async function changePosting(of: TestTenant, seq: number, change: string): Promise<void> {
  await withoutTriggers(db(), ['postings'], (tx) =>
    tx.query(`update postings set ${change} where tenant_id = $1 and seq = $2`, [idOf(of), seq]),
  );
}

/** Three records in January 2026, one more in February. */
beforeEach(async () => {
  tenant = await app.paidTenant();
  await charge([gib(), gib(), gib()]);
  await charge([gib()]);
  await changePosting(tenant, 1, `at = '2025-12-31T23:00Z'`);
  await changePosting(tenant, 2, `at = '2026-01-01T00:00Z'`);
  await changePosting(tenant, 3, `at = '2026-02-01T00:00Z'`);
});

const simulate = (...args: string[]) => admin('rates', 'simulate', draft, ...args);

describe('rates simulate', () => {
  it('tells what each tenant would have paid, and all together', async () => {
    const other = await app.paidTenant();
    await charge([gib()], other);
    await changePosting(other, 1, `at = '2026-01-30'`);
    await changePosting(other, 2, `at = '2026-01-31'`);
    const shown = await simulate(...PERIOD);
    expect(shown).toMatchObject({ code: 0, err: '' });
    const lines = shown.out.split('\n');
    expect(lines[0]).toMatch(/^TENANT +RECORDS +CHARGED +WOULD BE +DIFFERENCE$/);
    expect(shown.out).toMatch(new RegExp(`^${tenant.id} +3 +\\$0.060000 +\\$0.090000 +\\$0.030000$`, 'm'));
    expect(shown.out).toMatch(new RegExp(`^${other.id} +1 +\\$0.020000 +\\$0.030000 +\\$0.010000$`, 'm'));
    expect(lines.at(-2)).toMatch(/^all +\d+ +\$0\.\d{6} +\$0\.\d{6} +\$0\.\d{6}$/);
    expect(shown.out).not.toContain('exempt');
  });

  it('tells it as JSON, of one tenant', async () => {
    const { code, json, err } = await simulate(...PERIOD, '--tenant', tenant.id, '--json');
    const none = { micros: 0, display: '$0.000000' };
    const sums = {
      records: 3,
      charged: { micros: 60_000, display: '$0.060000' },
      would_be: { micros: 90_000, display: '$0.090000' },
      difference: { micros: 30_000, display: '$0.030000' },
      unbilled: { records: 0, priced_at: none, would_be: none, difference: none },
    };
    expect({ code, err, json }).toEqual({
      code: 0,
      err: '',
      json: {
        from: '2026-01-01T00:00:00.000Z',
        to: '2026-02-01T00:00:00.000Z',
        ...sums,
        tenants: [{ id: tenant.id, ...sums }],
      },
    });
  });

  it('takes times with offsets', async () => {
    const one = ['--tenant', tenant.id, '--json'];
    const both = await simulate(
      '--from',
      '2026-01-01T01:00+01:00',
      '--to',
      '2026-02-01T00:00:00.001Z',
      ...one,
    );
    expect(both.json.records).toBe(4);
    const second = await simulate('--from', '2026-01-01T00:00:01Z', '--to', '2026-02-01T01:00:00Z', ...one);
    expect(second.json.records).toBe(1);
  });

  it('of a cheaper card shows a negative difference', async () => {
    const cheap = await write('cheap.json', { ...BUILT_IN_RATES, platform_fee_per_gib: '0.01' });
    const { json } = await admin('rates', 'simulate', cheap, ...PERIOD, '--tenant', tenant.id, '--json');
    expect(json.difference).toEqual({ micros: -30_000, display: '-$0.030000' });
  });

  it('shows usage of exempt tenants apart', async () => {
    await db().query('update tenants set exempt = true where id = $1', [idOf(tenant)]);
    await charge([gib(), gib()]);
    const later = ['--from', '2026-02-02', '--to', '2999-01-01', '--tenant', tenant.id];
    const shown = await simulate(...later);
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(
      new RegExp(
        '^no usage was charged in this period\\n\\n' +
          'accepted and not charged, because the tenants were exempt:\\n' +
          'TENANT +RECORDS +PRICED AT +WOULD BE +DIFFERENCE\\n' +
          `${tenant.id} +2 +\\$0.040000 +\\$0.060000 +\\$0.020000\\n` +
          'all +2 +\\$0.040000 +\\$0.060000 +\\$0.020000\\n$',
      ),
    );
    const { json } = await simulate(...later, '--json');
    expect(json).toMatchObject({ records: 0, charged: { micros: 0 }, unbilled: { records: 2 } });
  });

  it('says if there was no usage', async () => {
    const shown = await simulate('--from', '2001-01-01', '--to', '2001-02-01');
    expect(shown).toMatchObject({ code: 0, out: 'no usage was charged in this period\n', err: '' });
  });

  it('changes nothing, and runs beside charges', async () => {
    const rows = async () => (await db().query('select * from accounts order by tenant_id')).rows;
    const before = await rows();
    await simulate(...PERIOD);
    expect(await rows()).toEqual(before);
    expect((await admin('rates', 'show', '--all', '--json')).json).toHaveLength(1);
  });

  it('refuses more records than usual, unless told to take them all', async () => {
    await changePosting(tenant, 2, 'records = 50000001');
    const refused = await simulate(...PERIOD, '--tenant', tenant.id);
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      err: 'the period has 50000001 records, more than 50000000: choose a shorter one, one tenant, or --all\n',
    });
    expect(await simulate(...PERIOD, '--tenant', tenant.id, '--all')).toMatchObject({ code: 0 });
    await changePosting(tenant, 2, 'records = 50000000');
    expect(await simulate(...PERIOD, '--tenant', tenant.id)).toMatchObject({ code: 0 });
    await changePosting(tenant, 2, 'records = 3');
  });

  it('refuses an invalid card as `rates load` does', async () => {
    const wrong = await write('wrong.json', { ...DRAFT, platform_fee_per_gib: 0.03 });
    const refused = await admin('rates', 'simulate', wrong, ...PERIOD);
    const refusedLoad = await admin('rates', 'load', wrong);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('platform_fee_per_gib');
    expect(refused.err).toBe(refusedLoad.err);
    const missing = join(folder, 'none.json');
    expect((await admin('rates', 'simulate', missing, ...PERIOD)).err).toBe(
      (await admin('rates', 'load', missing)).err,
    );
  });

  it('knows no tenant of this id', async () => {
    const refused = await simulate(...PERIOD, '--tenant', 't_0123456789abcdef');
    expect(refused).toMatchObject({ code: 1, out: '', err: 'tenant not found\n' });
  });

  it.each([
    [['--from', '2026-01-01']],
    [['--to', '2026-01-01']],
    [['--from', '2026-02-01', '--to', '2026-01-01']],
    [['--from', '2026-01-01', '--to', '2026-01-01']],
    [['--from', 'yesterday', '--to', '2026-01-01']],
    [['--from', '2026-02-30', '--to', '2026-03-01']],
    [['--from', '2026-01-01T00:00', '--to', '2026-03-01']],
    [['--from', '2026-01-01T25:00Z', '--to', '2026-03-01']],
    [['--from', '2026-13-01', '--to', '2027-03-01']],
    [[...PERIOD, '--tenant', 'x']],
  ])('does not understand %j', async (args) => {
    expect(await simulate(...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^error: /),
    });
  });
});
