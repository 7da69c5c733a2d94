/** What was begun with a role that the person has no longer. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { readEvents } from '../../support/console-stream.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
});

const partsOf = (text: string) => [...text.matchAll(/event: part\ndata: (.*)\n\n/g)].map(([, data]) => data!);

test('the stream of the overview ends when its owner becomes a moderator, and tells no amount more', async () => {
  const other = await makeMember(db(), idOf(tenant));
  const stream = await readEvents(`${app.url}/console/overview/events`, other.cookie, {
    accept: 'text/event-stream',
  });
  await expect.poll(() => partsOf(stream.text()).length).toBe(1);
  await sendForm(app, `/console/members/${other.id}/role`, { role: 'moderator' }, owner);
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [usageRecord()] } });
  await expect.poll(() => stream.isOver()).toBe(true);
  expect(partsOf(stream.text())).toHaveLength(1);
  expect(stream.text()).toContain('event: over');
});

test('a key that an owner asked for is refused to the viewer that the owner has become', async () => {
  const other = await makeMember(db(), idOf(tenant));
  const client = await app.database.pool.connect();
  await client.query('begin');
  await client.query('select from tenants where id = $1 for update', [idOf(tenant)]);
  const fields = { form: randomUUID(), name: 'late', kind: 'backend' };
  const making = sendForm(app, '/console/keys', fields, other);
  await expect.poll(() => countLockWaiters(db())).toBeGreaterThan(0);
  await client.query(`update members set role = 'viewer' where tenant_id = $1 and id = $2`, [
    idOf(tenant),
    other.id,
  ]);
  await client.query('commit');
  client.release();
  const { status, text } = await making;
  expect([status, text.includes('Your role does not allow this')]).toEqual([403, true]);
});
