import { describe, expect, test } from 'vitest';
import { getLastUses } from '../../../src/access/keys/get-last-uses.ts';
import { LastUses } from '../../../src/access/keys/last-uses.ts';
import { listKeyUses } from '../../../src/access/keys/list-key-uses.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { createCredential } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;

/** Notes of one process, with a clock that the test moves. */
function process() {
  let now = 1_000;
  const uses = new LastUses(db(), () => now);
  return {
    uses,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const lastUse = async (of: { id: string }, id: string, kind: 'key' | 'device' = 'key') =>
  (await getLastUses(db(), idOf(of), kind, [{ id }])).get(id)?.at;

describe('the last use', () => {
  test('of a key is that of the newest request with it, to the minute', async () => {
    const tenant = await app.signUp();
    await app.service.deps.lastUses.write();
    const before = await lastUse(tenant, tenant.keyId);
    expect(Date.now() - before!.getTime()).toBeLessThan(60_000);
    expect(await lastUse(tenant, tenant.relayKeyId)).toBeUndefined();
    expect(
      (await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [] } })).status,
    ).toBe(200);
    await app.service.deps.lastUses.write();
    expect(await lastUse(tenant, tenant.relayKeyId)).toBeInstanceOf(Date);
  });

  test('of a device credential is that of the newest join with it, though it was refused', async () => {
    const tenant = await app.paidTenant();
    const { id, credential } = await createCredential(app, tenant);
    await app.service.deps.lastUses.write();
    expect(await lastUse(tenant, id, 'device')).toBeUndefined();
    await app.request('POST', '/join', { key: credential, body: {} });
    await app.service.deps.lastUses.write();
    expect(await lastUse(tenant, id, 'device')).toBeInstanceOf(Date);
  });

  test('is written while somebody changes the tenant', async () => {
    const tenant = await app.signUp();
    const id = '00000000000000ab';
    const { uses } = process();
    uses.noteKey(idOf(tenant), id, '192.0.2.1');
    const holder = await openHolder(db());
    await holder.query('select from tenants where id = $1 for update', [idOf(tenant)]);
    await uses.write();
    expect(await lastUse(tenant, id)).toBeInstanceOf(Date);
    await holder.release();
  });

  test('is not moved by a wrong secret', async () => {
    const tenant = await app.signUp();
    await app.request('GET', '/v1/keys', { key: `${tenant.relayKey.slice(0, -4)}AAAA` });
    await app.service.deps.lastUses.write();
    expect(await lastUse(tenant, tenant.relayKeyId)).toBeUndefined();
  });

  test('is written once a minute, and never goes back', async () => {
    const tenant = await app.signUp();
    const id = '00000000000000aa';
    const first = process();
    const second = process();
    second.uses.noteKey(idOf(tenant), id, '192.0.2.1');
    second.pass(50_000);
    first.uses.noteKey(idOf(tenant), id, '192.0.2.1');
    await first.uses.write();
    const newest = await lastUse(tenant, id);
    // The other process writes later of an earlier use.
    await second.uses.write();
    expect(await lastUse(tenant, id)).toEqual(newest);

    first.uses.noteKey(idOf(tenant), id, '192.0.2.1');
    await first.uses.write();
    expect(await lastUse(tenant, id)).toEqual(newest);
    first.pass(60_000);
    first.uses.noteKey(idOf(tenant), id, '192.0.2.1');
    await first.uses.write();
    expect((await lastUse(tenant, id))!.getTime()).toBeGreaterThan(newest!.getTime());
  });

  test('is known of the tenant alone', async () => {
    const tenant = await app.signUp();
    await app.service.deps.lastUses.write();
    expect(await lastUse(await app.signUp(), tenant.keyId)).toBeUndefined();
  });
});

describe('uses by hour', () => {
  const hoursOf = (of: { id: string }, id: string) => listKeyUses(db(), idOf(of), id);
  const addressOf = async (of: { id: string }, id: string, kind: 'key' | 'device' = 'key') =>
    (await getLastUses(db(), idOf(of), kind, [{ id }])).get(id)?.address;

  test('count each request of every process, with the newest address', async () => {
    const tenant = await app.signUp();
    const id = '00000000000000ac';
    const [one, other] = [process(), process()];
    for (const address of ['192.0.2.1', '192.0.2.2']) one.uses.noteKey(idOf(tenant), id, address);
    await one.uses.write();
    expect(await addressOf(tenant, id)).toBe('192.0.2.2');
    one.uses.noteKey(idOf(tenant), id, '192.0.2.3');
    other.uses.noteKey(idOf(tenant), id, '192.0.2.4');
    // Written once a minute from then on.
    await one.uses.write();
    one.pass(60_000);
    await Promise.all([one.uses.write(), other.uses.write()]);
    const hours = await hoursOf(tenant, id);
    expect(hours.reduce((sum, { uses }) => sum + uses, 0n)).toBe(4n);
    for (const { hour } of hours) expect(hour.getTime() % 3_600_000).toBe(0);
    expect(await hoursOf(await app.signUp(), id)).toEqual([]);
  });

  test('of requests are those that a client made', async () => {
    const tenant = await app.signUp();
    await app.service.deps.lastUses.write();
    const before = (await hoursOf(tenant, tenant.relayKeyId)).length;
    for (let count = 0; count < 3; count += 1)
      await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [] } });
    await app.service.deps.lastUses.write();
    const hours = await hoursOf(tenant, tenant.relayKeyId);
    expect([before, hours.reduce((sum, { uses }) => sum + uses, 0n)]).toEqual([0, 3n]);
    expect(await addressOf(tenant, tenant.relayKeyId)).toBe('127.0.0.1');
  });

  test('are not kept of devices, nor are their addresses', async () => {
    const tenant = await app.paidTenant();
    const { id, credential } = await createCredential(app, tenant);
    await app.request('POST', '/join', { key: credential, body: {} });
    await app.service.deps.lastUses.write();
    expect([await addressOf(tenant, id, 'device'), await hoursOf(tenant, id)]).toEqual([null, []]);
  });

  test('are deleted after seven days', async () => {
    const tenant = await app.signUp();
    for (const days of [6, 8])
      await db().query(
        `insert into key_use_hours values ($1, 'k', date_trunc('hour', now()) - make_interval(days => $2), 1)`,
        [idOf(tenant), days],
      );
    await sweep(app.service.deps);
    expect((await hoursOf(tenant, 'k')).length).toBe(1);
  });
});

/** Notes whose statements only the test sees: the ids that each writes. */
function withoutDatabase() {
  const written: string[][] = [];
  const query = async ({ name, values }: { name: string; values: readonly string[][] }) => {
    if (name === 'upsert-last-uses') written.push(values[2]!);
  };
  return { uses: new LastUses({ query } as never), written };
}

describe('a request', () => {
  test('waits for no statement about it', async () => {
    const { uses, written } = withoutDatabase();
    for (let at = 0; at < 1_000; at += 1) uses.noteKey(1n as never, '00000000000000aa', '192.0.2.1');
    expect(written).toEqual([]);
    await uses.write();
    expect(written).toEqual([['00000000000000aa']]);
    await uses.write();
    expect(written).toHaveLength(1);
  });

  test('with a key beyond 50,000 in a minute is not noted', async () => {
    const { uses, written } = withoutDatabase();
    for (let at = 0; at <= 50_000; at += 1) uses.noteKey(1n as never, String(at), '192.0.2.1');
    await uses.write();
    expect(written.flat()).toEqual(Array.from({ length: 50_000 }, (_, at) => String(at)));
  });
});
