import { describe, expect, test } from 'vitest';
import { getLastUses } from '../../../src/access/keys/get-last-uses.ts';
import { LastUses } from '../../../src/access/keys/last-uses.ts';
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
  (await getLastUses(db(), idOf(of), kind, [{ id }])).get(id);

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
    uses.note('key', idOf(tenant), id);
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
    second.uses.note('key', idOf(tenant), id);
    second.pass(50_000);
    first.uses.note('key', idOf(tenant), id);
    await first.uses.write();
    const newest = await lastUse(tenant, id);
    // The other process writes later of an earlier use.
    await second.uses.write();
    expect(await lastUse(tenant, id)).toEqual(newest);

    first.uses.note('key', idOf(tenant), id);
    await first.uses.write();
    expect(await lastUse(tenant, id)).toEqual(newest);
    first.pass(60_000);
    await first.uses.write();
    first.uses.note('key', idOf(tenant), id);
    await first.uses.write();
    expect((await lastUse(tenant, id))!.getTime()).toBeGreaterThan(newest!.getTime());
  });

  test('is known of the tenant alone', async () => {
    const tenant = await app.signUp();
    await app.service.deps.lastUses.write();
    expect(await lastUse(await app.signUp(), tenant.keyId)).toBeUndefined();
  });
});

/** Notes whose statements only the test sees: the ids that each writes. */
function withoutDatabase() {
  const written: string[][] = [];
  const query = async ({ values }: { values: readonly string[][] }) => void written.push(values[2]!);
  return { uses: new LastUses({ query } as never), written };
}

describe('a request', () => {
  test('waits for no statement about it', async () => {
    const { uses, written } = withoutDatabase();
    for (let at = 0; at < 1_000; at += 1) uses.note('key', 1n as never, '00000000000000aa');
    expect(written).toEqual([]);
    await uses.write();
    expect(written).toEqual([['00000000000000aa']]);
    await uses.write();
    expect(written).toHaveLength(1);
  });

  test('with a key beyond 50,000 in a minute is not noted', async () => {
    const { uses, written } = withoutDatabase();
    for (let at = 0; at <= 50_000; at += 1) uses.note('key', 1n as never, String(at));
    await uses.write();
    expect(written.flat()).toEqual(Array.from({ length: 50_000 }, (_, at) => String(at)));
  });
});
