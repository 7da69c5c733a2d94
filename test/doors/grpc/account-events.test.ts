/** Events of credit, payments, the tenant's status, keys and credentials, from the operation to the stream. */
import { Event_Type } from '@boxoffice/contract/event';
import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, test } from 'vitest';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { emptyLog } from '../../support/events.ts';
import { useControl } from '../../support/grpc.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const { listEvents } = RoomService.method;

const NAMES = new Map(Object.entries(Event_Type).map(([name, type]) => [type as number, name]));
const nameOf = (type: number) => NAMES.get(type)!;

/** Types and subjects of what happened. */
async function told(tenant: TestTenant): Promise<[string, unknown][]> {
  const { events } = await controlOf(tenant).call(listEvents, { pageSize: 500 });
  return events.map(({ type, kind, roomUid }) => {
    expect(roomUid).toBe('');
    return [nameOf(type), kind.value];
  });
}

const spend = (tenant: TestTenant, egress_bytes: number) =>
  app.request('POST', '/v1/usage', {
    key: tenant.relayKey,
    body: {
      records: [usageRecord({ role: 'host', tier: '2k_plus', seconds: 86_400, egress_bytes })],
    },
  });
const TIB = 2 ** 40;

describe('a payment', () => {
  test('the first one restores credit, makes the tenant active, and is a top-up', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 2000 });
    expect(await told(tenant)).toMatchObject([
      ['TENANT_STATUS_CHANGED', { from: 'pending', to: 'active', exempt: false, admitted: false }],
      ['CREDIT_RESTORED', { balanceMicros: 20_000_000n, admitted: true }],
      ['TOP_UP_SUCCEEDED', { automatic: false, amountMicros: 20_000_000n, paymentId: payment, error: '' }],
    ]);
  });

  test('a refund is told with what it took, and so is credit that is spent by it', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 2000 });
    await emptyLog(app.service.deps.db, idOf(tenant));
    const refund = await app.stripe.refunds.create({ payment_intent: payment });
    await app.settled();
    expect(await told(tenant)).toMatchObject([
      [
        'PAYMENT_REVERSED',
        { paymentId: payment, kind: 'refund', reference: refund.id, amountMicros: -20_000_000n },
      ],
      ['CREDIT_SPENT', { balanceMicros: 0n, admitted: false }],
    ]);
  });

  test('an automatic top-up that the bank declines is told with the reason', async () => {
    const tenant = await app.paidTenant({ cents: 2000, card: '4000000000000341' });
    await app.request('PUT', '/v1/billing/auto-top-up', {
      key: tenant.key,
      body: { enabled: true, below_cents: 1900, amount_cents: 5000 },
    });
    await spend(tenant, 100 * TIB);
    const types = async () => (await told(tenant)).map(([type]) => type);
    await expect.poll(types).toContain('TOP_UP_FAILED');
    const failed = (await told(tenant)).find(([type]) => type === 'TOP_UP_FAILED')!;
    const billing = await app.request('GET', '/v1/billing', { key: tenant.key });
    expect(failed[1]).toMatchObject({
      automatic: true,
      amountMicros: 50_000_000n,
      error: billing.json.tenant.last_top_up_error,
    });
  });
});

describe('credit', () => {
  test('a charge that spends it is told once, whatever follows', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    for (let round = 0; round < 3; round += 1) expect((await spend(tenant, TIB)).status).toBe(200);
    const events = await told(tenant);
    expect(events).toMatchObject([['CREDIT_SPENT', { admitted: false }]]);
    expect((events[0]![1] as { balanceMicros: bigint }).balanceMicros).toBeLessThanOrEqual(0n);
  });

  test('a charge that leaves some is not told', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    await spend(tenant, 1024);
    expect(await told(tenant)).toStrictEqual([]);
  });
});

test('a status that an operator changes, and an exemption, are told', async () => {
  const tenant = await app.paidTenant();
  const { db } = app.service.deps;
  await changeStatus(db, OPERATOR, idOf(tenant), 'suspended', 'unpaid invoice');
  await changeStatus(db, OPERATOR, idOf(tenant), 'active', 'paid');
  await setExempt(db, OPERATOR, idOf(tenant), true);
  expect(await told(tenant)).toMatchObject([
    ['TENANT_STATUS_CHANGED', { from: 'active', to: 'suspended', exempt: false, admitted: false }],
    ['TENANT_STATUS_CHANGED', { from: 'suspended', to: 'active', exempt: false, admitted: true }],
    ['TENANT_STATUS_CHANGED', { from: 'active', to: 'active', exempt: true, admitted: true }],
  ]);
});

test('keys: created, rotated and revoked, never with a secret', async () => {
  const tenant = await app.signUp();
  const { key } = tenant;
  const created = await app.request('POST', '/v1/keys', { key, body: { name: 'second', kind: 'backend' } });
  const { id } = created.json.key;
  const rotated = await app.request('POST', `/v1/keys/${id}/rotate`, { key, body: { overlap_seconds: 60 } });
  await app.request('DELETE', `/v1/keys/${rotated.json.key.id}`, { key });
  // Revoking it again changes nothing.
  await app.request('DELETE', `/v1/keys/${rotated.json.key.id}`, { key });
  const events = await told(tenant);
  const fresh = { id: rotated.json.key.id, name: 'second', kind: 'backend' };
  expect(events).toMatchObject([
    ['KEY_CREATED', { key: { id, name: 'second', kind: 'backend' }, replacedId: '' }],
    ['KEY_ROTATED', { key: fresh, replacedId: id, replacedRetireTime: expect.anything() }],
    ['KEY_REVOKED', { key: { ...fresh, revokeTime: expect.anything() } }],
  ]);
  const { rows } = await app.service.deps.db.query('select subject::text from events where tenant_id = $1', [
    idOf(tenant),
  ]);
  for (const { json } of [created, rotated]) {
    // The secret itself may contain underscores.
    const secret = json.api_key.split('_').slice(2).join('_');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain('hash');
  }
});

test('the key of a signup is told', async () => {
  const signedUp = await app.request('POST', '/v1/signup', {
    body: { name: 'Ada', email: 'ada@example.com' },
    headers: { 'x-forwarded-for': '203.0.113.7' },
  });
  const tenant = { id: signedUp.json.tenant, key: signedUp.json.api_key } as TestTenant;
  expect(await told(tenant)).toMatchObject([
    ['KEY_CREATED', { key: { id: signedUp.json.key_id, name: 'default', kind: 'backend' } }],
  ]);
});

test('device credentials: created, rotated and revoked, never with a secret', async () => {
  const tenant = await app.signUp();
  const { key } = tenant;
  const path = '/v1/device-credentials';
  const created = await app.request('POST', path, { key, body: { name: 'kiosk', publish: ['audio'] } });
  const { id } = created.json.device_credential;
  const rotated = await app.request('POST', `${path}/${id}/rotate`, { key });
  const freshId = rotated.json.device_credential.id;
  await app.request('DELETE', `${path}/${freshId}`, { key });
  expect(await told(tenant)).toMatchObject([
    ['DEVICE_CREDENTIAL_CREATED', { credential: { id, name: 'kiosk' }, replacedId: '' }],
    ['DEVICE_CREDENTIAL_ROTATED', { credential: { id: freshId }, replacedId: id }],
    ['DEVICE_CREDENTIAL_REVOKED', { credential: { id: freshId, revokeTime: expect.anything() } }],
  ]);
});

test('an event of a type that this version does not know leaves as UNSPECIFIED', async () => {
  const tenant = await app.signUp();
  await app.service.deps.db.query(
    `insert into unnumbered_events (tenant_id, type, subject) values ($1, 'something_new', '{"secret": 1}')`,
    [idOf(tenant)],
  );
  expect(await told(tenant)).toStrictEqual([['UNSPECIFIED', undefined]]);
});

test('a stream of one room has none of them', async () => {
  const tenant = await app.signUp();
  await controlOf(tenant).call(RoomService.method.createRoom, { room: 'lobby' });
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'second' } });
  const { events } = await controlOf(tenant).call(listEvents, { room: 'lobby' });
  expect(events.map(({ type }) => nameOf(type))).toStrictEqual(['ROOM_CREATED']);
});
