/** Reports of records whose participant was erased. */
import { beforeEach, describe, expect, test } from 'vitest';
import { eraseInRecords } from '../../../src/money/records/erase-in-records.sql.ts';
import { eraseInConflicts } from '../../../src/money/usage/conflicts.sql.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { openHolder } from '../../support/holder.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
let tenant: TestTenant;
let record: Record<string, unknown>;

const charge = async (...records: unknown[]) => {
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const conflicts = async () => {
  const { rows } = await db().query('select id, times, reported from usage_conflicts where tenant_id = $1', [
    idOf(tenant),
  ]);
  return rows;
};
const erase = (name = 'ann') => eraseInRecords(db(), idOf(tenant), '', [name]);

beforeEach(async () => {
  tenant = await app.paidTenant();
  record = usageRecord({ participant: 'ann', room: 'lobby' });
  await charge(record);
});

describe('a record whose participant was erased', () => {
  test('is a duplicate when it comes again, without a conflict', async () => {
    expect(await erase()).toEqual({ last: undefined, erased: new Map([['ann', 1]]) });
    const { balance } = (await app.request('GET', '/v1/billing', { key: tenant.key })).json;
    expect(await charge(record)).toMatchObject({ charged: 0, duplicates: 1 });
    // Not found by the probe of the first, middle and last id.
    const hidden = [usageRecord(), record, usageRecord(), usageRecord(), usageRecord()];
    expect(await charge(...hidden)).toMatchObject({ charged: 4, duplicates: 1 });
    expect(await conflicts()).toEqual([]);
    const { recent } = (await app.request('GET', '/v1/billing', { key: tenant.key })).json;
    expect(balance.micros).toBeGreaterThan(0);
    expect(recent.map(({ detail }: { detail?: string }) => detail)).toContain('(erased)');
    expect(await checkLedger(db())).toEqual([]);
  });

  test.each([
    ['another participant', { participant: 'bob' }],
    ['no participant', { participant: undefined }],
  ])('is a duplicate with %s as well, because nothing can be compared', async (_, fields) => {
    await erase();
    expect(await charge({ ...record, ...fields })).toMatchObject({ duplicates: 1 });
    expect(await conflicts()).toEqual([]);
  });

  test('is a conflict with other values, which does not bring the name back', async () => {
    await erase();
    await charge({ ...record, seconds: 61 });
    await charge({ ...record, seconds: 62 }, usageRecord());
    expect(await conflicts()).toEqual([
      {
        id: record.id,
        times: 2,
        reported: expect.objectContaining({ seconds: 62, participant: '(erased)', room: 'lobby' }),
      },
    ]);
  });

  test('does not hide that another record has another participant', async () => {
    await erase();
    const other = usageRecord({ participant: 'bob' });
    await charge(other);
    await charge({ ...other, participant: 'cem' });
    expect(await conflicts()).toMatchObject([{ id: other.id, reported: { participant: 'cem' } }]);
  });
});

describe('conflicts', () => {
  test('lose the name, and keep the rest', async () => {
    await charge({ ...record, seconds: 61 });
    const other = usageRecord({ participant: 'bob' });
    await charge(other);
    await charge({ ...other, participant: 'cem' });
    const part = await eraseInConflicts(db(), idOf(tenant), '', ['ann', 'bob']);
    expect(part).toEqual({ last: undefined, erased: new Map([['ann', 1]]) });
    expect(await conflicts()).toMatchObject([
      { id: record.id, times: 1, reported: { participant: '(erased)', seconds: 61, room: 'lobby' } },
      { id: other.id, reported: { participant: 'cem' } },
    ]);
  });

  test('of a charge that is under way are erased after it', async () => {
    const { id } = (
      await app.request('POST', '/v1/participants/erase', {
        key: tenant.key,
        body: { participant: 'nobody' },
      })
    ).json.erasure;
    const state = async () =>
      (await app.request('GET', `/v1/erasures/${id}`, { key: tenant.key })).json.erasure.state;
    await expect.poll(state).toBe('done');

    // As a charge: it has locked the account, and read the record before its name was erased.
    const holder = await openHolder(db());
    await holder.query('select from accounts where tenant_id = $1 for no key update', [idOf(tenant)]);
    const asked = await app.request('POST', '/v1/participants/erase', {
      key: tenant.key,
      body: { participant: 'ann' },
    });
    const waits = async () => {
      const { rows } = await db().query('select step from erasures where id = $1', [asked.json.erasure.id]);
      return rows[0].step;
    };
    await expect.poll(waits).toBe('usage_conflicts');
    await holder.query(
      `insert into usage_conflicts (tenant_id, id, reported) values ($1, $2, '{"participant":"ann"}')`,
      [idOf(tenant), record.id],
    );
    await holder.query('commit');
    await expect.poll(async () => (await conflicts())[0].reported).toEqual({ participant: '(erased)' });
  });
});
