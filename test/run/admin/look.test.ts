/** Top-ups, usage, rates and events. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { BUILT_IN_RATES } from '../../../src/money/pricing/rate-card.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const admin = (...args: string[]) => runAdmin({ DATABASE_URL: db().options.connectionString! }, ...args);

describe('top-ups unfreeze', () => {
  it('clears every reason that stops them', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    const autoTopUp = { enabled: true, below_cents: 2000, amount_cents: 5000 };
    await app.request('PUT', '/v1/billing/auto-top-up', { key: tenant.key, body: autoTopUp });
    await db().query(
      `with frozen as (update payment_settings set frozen_by = '{dp_1}', top_up_paused_until = 'infinity'
                        where tenant_id = $1 returning card_fingerprint)
       insert into card_breakers (fingerprint, declines, blocked_until)
       select card_fingerprint, 4, 'infinity' from frozen`,
      [parseTenantId(tenant.id)],
    );
    const report = () =>
      app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [usageRecord()] } });
    const kinds = async () => {
      const answer = await app.request('GET', '/v1/billing', { key: tenant.key });
      return answer.json.recent.map((entry: { kind: string }) => entry.kind);
    };

    expect(await admin('top-ups', 'unfreeze', tenant.id)).toMatchObject({
      code: 0,
      out: `automatic top-ups of ${tenant.id} are no longer stopped; they were frozen by dp_1\n`,
      err: '',
    });
    await report();
    await expect.poll(kinds).toContain('auto_top_up');
    expect((await admin('top-ups', 'unfreeze', tenant.id, '--json')).json).toEqual({
      id: tenant.id,
      was_frozen_by: [],
    });
  });

  it('leaves disabled top-ups off', async () => {
    const tenant = await app.paidTenant();
    expect(await admin('top-ups', 'unfreeze', tenant.id)).toMatchObject({ code: 0 });
    const { rows } = await db().query('select top_up_enabled from payment_settings where tenant_id = $1', [
      parseTenantId(tenant.id),
    ]);
    expect(rows).toEqual([{ top_up_enabled: false }]);
  });
});

describe('usage conflicts', () => {
  it('shows what was charged next to the conflicting report', async () => {
    const tenant = await app.paidTenant();
    const record = usageRecord({ id: 'twice', seconds: 60, room: 'lobby' });
    for (const records of [
      [record],
      [{ ...record, seconds: 61, room: undefined }],
      [{ ...record, role: 'audience' }],
    ]) {
      await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    }
    const shown = await admin('usage', 'conflicts', tenant.id);
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^twice +2 +\S+Z +\S+Z +role host -> audience$/m);

    const { json } = await admin('usage', 'conflicts', tenant.id, '--json');
    expect(json).toMatchObject([
      {
        id: 'twice',
        times: 2,
        accepted: {
          role: 'host',
          tier: 'hd',
          seconds: 60,
          room: 'lobby',
          participant: null,
          egress_bytes: 50_000_000,
        },
        reported: { role: 'audience', seconds: 60, room: 'lobby' },
      },
    ]);
  });

  it('says if there are none', async () => {
    const tenant = await app.signUp();
    expect(await admin('usage', 'conflicts', tenant.id)).toMatchObject({ code: 0, out: 'no conflicts\n' });
  });
});

describe('rates', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'boxoffice-rates-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const write = async (name: string, card: unknown) => {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(card));
    return path;
  };

  it('are shown and loaded', async () => {
    const shown = await admin('rates', 'show');
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^version +1$/m);
    expect(shown.out).toMatch(/^platform fee per GiB +\$0\.020000$/m);
    expect(shown.out).toMatch(/^host +\$0\.600000 +\$1\.500000 +\$3\.000000 +\$6\.000000 +\$12\.000000$/m);

    const path = await write('new.json', { ...BUILT_IN_RATES, platform_fee_per_gib: '0.03' });
    expect(await admin('rates', 'load', path)).toMatchObject({ code: 0, out: 'version 2 is in effect\n' });
    const again = await admin('rates', 'load', path, '--json');
    expect(again).toMatchObject({ code: 0, json: { version: 2, loaded: false } });
    const served = await app.request('GET', '/v1/rates');
    expect(served.json.platform_fee_per_gib.micros).toBe(30_000);

    const all = await admin('rates', 'show', '--all', '--json');
    expect(all.json.map((each: { version: number }) => each.version)).toEqual([2, 1]);
    expect(all.json[1].card).toEqual(BUILT_IN_RATES);
  });

  it('return to an earlier card only with --again', async () => {
    const { version } = (await admin('rates', 'show', '--json')).json;
    const path = await write('old.json', BUILT_IN_RATES);
    const refused = await admin('rates', 'load', path);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(`it is the old version 1, and version ${version} is in effect`);
    expect(await admin('rates', 'load', path, '--again')).toMatchObject({
      code: 0,
      out: `version ${version + 1} is in effect\n`,
    });
    const served = await app.request('GET', '/v1/rates');
    expect(served.json.platform_fee_per_gib.micros).toBe(20_000);
  });

  it('are not loaded from an invalid file', async () => {
    const before = (await admin('rates', 'show', '--json')).json;
    const path = await write('wrong.json', { ...BUILT_IN_RATES, platform_fee_per_gib: 0.03 });
    const refused = await admin('rates', 'load', path);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(path);
    expect(refused.err).toContain('platform_fee_per_gib');
    expect(await admin('rates', 'load', join(folder, 'none.json'))).toMatchObject({ code: 1, out: '' });
    expect((await admin('rates', 'show', '--json')).json).toEqual(before);
  });
});

describe('events parked', () => {
  it('shows provider events that could not be processed', async () => {
    expect(await admin('events', 'parked')).toMatchObject({
      code: 0,
      out: 'no parked notifications\n',
      err: '',
    });
    await app.stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });
    await app.settled();
    const { json } = await admin('events', 'parked', '--json');
    expect(json).toMatchObject([
      {
        type: 'payment_intent.succeeded',
        reason: expect.stringContaining('belongs to no checkout or top-up of ours'),
      },
    ]);
    const shown = await admin('events', 'parked');
    expect(shown.out).toMatch(
      new RegExp(
        `^${json[0].id} +payment_intent\\.succeeded +\\S+Z +parked +- +pi_\\w+ +payment pi_\\w+ belongs`,
        'm',
      ),
    );
  });
});
