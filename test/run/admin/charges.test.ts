import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findNow } from '../../../src/base/db/find-now.sql.ts';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../../src/money/pricing/rate-cards.ts';
import { nextInstant } from '../../support/instant.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const admin = (...args: string[]) => runAdmin({ DATABASE_URL: db().options.connectionString! }, ...args);

let tenant: TestTenant;
let period: string[];

/** The card of version 2 was wrong. */
beforeAll(async () => {
  await loadRates(db(), OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: '0.05' });
});

/** Two GiB in an hour, so that the fee is the price: $0.10. */
beforeEach(async () => {
  tenant = await app.paidTenant();
  const from = await findNow(db());
  const gib = () => usageRecord({ tier: '2k_plus', seconds: 3_600, egress_bytes: 2 ** 30 });
  const body = { records: [gib(), gib()] };
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body });
  expect(answer.status, answer.text).toBe(200);
  const to = await nextInstant(db());
  period = ['--from', from.toISOString(), '--to', to.toISOString()];
});

const recompute = (...args: string[]) => admin('charges', 'recompute', ...period, ...args);
const newest = async () => {
  const { json } = await app.request('GET', '/v1/billing', { key: tenant.key });
  return json.recent[0];
};

describe('charges recompute', () => {
  it('shows what another card would have charged, and posts nothing', async () => {
    const shown = await recompute('--card', '1');
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^TENANT +RECORDS +CHARGED +WOULD BE +TO GIVE BACK +IN THE WAY$/m);
    expect(shown.out).toMatch(new RegExp(`^${tenant.id} +2 +\\$0.100000 +\\$0.040000 +\\$0.060000 +-$`, 'm'));
    expect(shown.out).toContain('nothing was posted: --apply posts');
    expect((await newest()).kind).toBe('usage');
  });

  it('posts with --apply, once, and the tenant sees it', async () => {
    expect((await recompute('--card', '1', '--apply')).out).toContain('posted 1 correction\n');
    expect((await recompute('--card', '1', '--apply')).out).toContain('nothing was left to correct');
    const reference = `${period[1]}/${period[3]}`;
    expect(await newest()).toMatchObject({
      kind: 'correction',
      amount: { micros: 60_000, display: '$0.060000' },
      reference,
      detail: 'recomputed at version 1 of the rate card',
    });
    const { json } = await recompute('--card', '2', '--json');
    expect(json).toMatchObject({
      card: 2,
      records: 2,
      charged: { micros: 40_000 },
      would_be: { micros: 100_000 },
      to_give_back: { micros: -60_000 },
      tenants: [{ id: tenant.id }],
    });
    expect(json).not.toHaveProperty('posted');
  });

  it('charges more only with --charge-more', async () => {
    await recompute('--card', '1', '--apply');
    expect(await recompute('--card', '2', '--apply')).toMatchObject({
      code: 1,
      err: expect.stringContaining('allow it (--charge-more)'),
    });
    const answer = await recompute(
      '--card',
      '2',
      '--apply',
      '--charge-more',
      '--reason',
      'as it was',
      '--json',
    );
    expect(answer.json).toMatchObject({ posted: 1 });
    expect(await newest()).toMatchObject({ amount: { micros: -60_000 }, detail: 'as it was' });
  });

  it('tells what is in the way', async () => {
    await recompute('--card', '1', '--apply');
    const wider = ['--from', '2000-01-01', '--to', period[3]!, '--card', '1'];
    const shown = await admin('charges', 'recompute', ...wider, '--tenant', tenant.id);
    expect(shown.out).toContain(`corrected for ${period[1]}/${period[3]}`);
    expect(await admin('charges', 'recompute', ...wider, '--tenant', tenant.id, '--apply')).toMatchObject({
      code: 1,
      err: expect.stringContaining('choose the same period'),
    });
  });

  it.each([
    [['--card', '0'], 2, 'It must be a version'],
    [['--card', '99'], 1, 'there is no rate card of version 99'],
    [['--card', '1', '--tenant', 't_0000000000000000'], 1, 'not found'],
    [['--card', '1', '--to', '2999-01-01'], 1, 'the period must be over: it is '],
    [['--card', '1', '--to', '2000-01-01'], 2, '--from must be before --to'],
  ])('refuses %j', async (args, code, words) => {
    expect(await recompute(...args)).toMatchObject({ code, err: expect.stringContaining(words) });
  });

  it('says when nothing was charged', async () => {
    period = ['--from', '2000-01-01', '--to', '2000-01-02'];
    expect((await recompute('--card', '1')).out).toBe('no usage was charged in this period\n');
  });
});
