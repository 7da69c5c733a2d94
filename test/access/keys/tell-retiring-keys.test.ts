/** The event `key_retiring`, of API keys and device credentials. */
import { describe, expect, test } from 'vitest';
import { tellRetiringKeys } from '../../../src/access/keys/tell-retiring-keys.ts';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { moved } from '../../support/append-only.ts';
import { eventsOf } from '../../support/events.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ payments: false });
const db = () => app.service.deps.db;
const tell = () => tellRetiringKeys(app.service.deps);

const DAY = 86_400;

interface Kind {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly field: string;
  readonly table: string;
  readonly told: string;
}

const KINDS: readonly Kind[] = [
  {
    path: '/v1/keys',
    body: { name: 'studio', kind: 'backend' },
    field: 'key',
    table: 'api_keys',
    told: 'backend',
  },
  {
    path: '/v1/keys',
    body: { name: 'studio', kind: 'relay' },
    field: 'key',
    table: 'api_keys',
    told: 'relay',
  },
  {
    path: '/v1/device-credentials',
    body: { name: 'studio', publish: ['audio'] },
    field: 'device_credential',
    table: 'device_credentials',
    told: 'device',
  },
];

/** Returns the id of the old key and that of the new one. */
async function rotated(tenant: TestTenant, { path, body, field }: Kind, overlap: number) {
  const { key } = tenant;
  const created = await app.request('POST', path, { key, body });
  expect(created.status, created.text).toBe(201);
  const { id } = created.json[field];
  const answer = await app.request('POST', `${path}/${id}/rotate`, {
    key,
    body: { overlap_seconds: overlap },
  });
  expect(answer.status, answer.text).toBe(201);
  return { id: id as string, next: answer.json[field].id as string };
}

async function told(tenant: TestTenant) {
  const events = await eventsOf(db(), idOf(tenant));
  return events.filter(({ type }) => type === 'key_retiring').map(({ subject }) => subject);
}

async function secondsPass(table: string, id: string, seconds: number): Promise<void> {
  await changeReferenceTable(
    db(),
    `update ${table} set retires_at = ${moved('retires_at', `-${seconds} seconds`)},
            retirement_notice_at = ${moved('retirement_notice_at', `-${seconds} seconds`)} where id = $1`,
    [id],
  );
}

async function isDue(table: string, id: string): Promise<boolean> {
  const { rows } = await db().query(
    `select retirement_notice_at <= clock_timestamp() as is_due from ${table} where id = $1`,
    [id],
  );
  return rows[0].is_due;
}

describe.each(KINDS)('$told', (kind) => {
  const { table, path } = kind;

  test.each([
    [3_600, 900],
    [DAY, DAY / 4],
    [7 * DAY, DAY],
  ])('an overlap of %d seconds: %d seconds before its end', async (overlap, before) => {
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, overlap);
    await secondsPass(table, id, overlap - before - 60);
    await tell();
    expect(await told(tenant)).toEqual([]);
    await secondsPass(table, id, 60);
    const { rows } = await db().query(`select retires_at from ${table} where id = $1`, [id]);
    const retiresAt = rows[0].retires_at.toISOString();
    await tell();
    await tell();
    expect(await told(tenant)).toStrictEqual([{ keyId: id, name: 'studio', kind: kind.told, retiresAt }]);
  });

  test.each([0, 3_599])('an overlap of %d seconds is not told', async (overlap) => {
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, overlap);
    await secondsPass(table, id, Math.max(0, overlap - 60));
    await tell();
    expect(await told(tenant)).toEqual([]);
  });

  test('several processes tell once', async () => {
    const { service } = await app.another();
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, 4 * DAY);
    await secondsPass(table, id, 3 * DAY - 60);
    await tell();
    expect(await told(tenant)).toEqual([]);
    await secondsPass(table, id, 60);
    await Promise.all([tell(), tellRetiringKeys(service.deps), tell()]);
    await tell();
    expect(await told(tenant)).toMatchObject([{ keyId: id, name: 'studio', kind: kind.told }]);
  });

  test('the job of a process tells', async () => {
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, 4 * DAY);
    await secondsPass(table, id, 3 * DAY);
    await app.another();
    await expect.poll(() => told(tenant)).toMatchObject([{ keyId: id }]);
  });

  test('one that was revoked meanwhile, or has retired, is not told', async () => {
    const tenant = await app.signUp();
    const revoked = await rotated(tenant, kind, 4 * DAY);
    const retired = await rotated(tenant, kind, 4 * DAY);
    await app.request('DELETE', `${path}/${revoked.id}`, { key: tenant.key });
    await secondsPass(table, revoked.id, 3 * DAY);
    await secondsPass(table, retired.id, 4 * DAY);
    await tell();
    expect(await told(tenant)).toEqual([]);
  });

  test('one that another transaction is revoking is left to the next turn', async () => {
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, 4 * DAY);
    // It is not due yet when the other transaction locks it, for the job of the process may run at any time.
    await secondsPass(table, id, 3 * DAY - 2);
    const other = await db().connect();
    await other.query('begin');
    await other.query(`update ${table} set revoked_at = now() where id = $1`, [id]);
    await expect.poll(() => isDue(table, id)).toBe(true);
    const telling = tell();
    // Changes of keys take turns where every server has a copy of them.
    if (!isDistributed()) await telling;
    await other.query('commit');
    other.release();
    await telling;
    await tell();
    expect(await told(tenant)).toEqual([]);
  });

  test('those of a deleted tenant are not told', async () => {
    const tenant = await app.signUp();
    const { id } = await rotated(tenant, kind, 4 * DAY);
    await changeStatus(db(), OPERATOR, idOf(tenant), 'deleted', 'test');
    await secondsPass(table, id, 3 * DAY);
    await tell();
    expect(await told(tenant)).toEqual([]);
  });
});

test('a credential that has expired before it retires is not told', async () => {
  const tenant = await app.signUp();
  const kind = KINDS[2]!;
  const { id } = await rotated(tenant, kind, 4 * DAY);
  await changeReferenceTable(db(), `update device_credentials set expires_at = now() where id = $1`, [id]);
  await secondsPass(kind.table, id, 3 * DAY);
  await tell();
  expect(await told(tenant)).toEqual([]);
});
