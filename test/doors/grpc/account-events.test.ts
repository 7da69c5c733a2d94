/**
 * Events of credit, payments, alerts, the tenant's status, keys, credentials and webhooks, from the operation to the
 * stream.
 */
import { Event_Type, EventSchema } from '@boxoffice/contract/event';
import { RoomService } from '@boxoffice/contract/room_service';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test, vi } from 'vitest';
import { tellRetiringKeys } from '../../../src/access/keys/tell-retiring-keys.ts';
import type { Event } from '../../../src/control/streams/stream-event.ts';
import { renderEvent, SUBJECT_RENDERERS } from '../../../src/doors/grpc/events.ts';
import type { RunwayAlert } from '../../../src/money/alerts/alert-events.ts';
import { tellExpiringCards } from '../../../src/money/cards/tell-expiring-cards.ts';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { PUBLIC_EVENT_TYPES, type PublicHappening } from '../../../src/outward/events/event-catalogue.ts';
import { balance, runway, setAlerts } from '../../money/alerts/support.ts';
import { appendCounted, makeWebhook } from '../../outward/webhooks/support.ts';
import { emptyLog } from '../../support/events.ts';
import { useControl } from '../../support/grpc.ts';
import { post } from '../../support/months.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ webhooks: FAST_WEBHOOKS });
const receiver = useReceiver();
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

/** The subject of an event as the stream sends it. */
function rendered(happening: PublicHappening) {
  return renderEvent({ ...happening, seq: 1n, at: new Date(), roomUid: null } as Event).kind;
}

const spend = (tenant: TestTenant, egress_bytes: number) =>
  app.request('POST', '/v1/usage', {
    key: tenant.relayKey,
    body: {
      records: [usageRecord({ role: 'host', tier: '2k_plus', seconds: 86_400, egress_bytes })],
    },
  });
const TIB = 2 ** 40;

/** When an event says that something happens; to the millisecond. */
const at = (time: string | Date) => timestampFromDate(new Date(time));
const SOME_TIME = { seconds: expect.any(BigInt) };

test('the contract has each type of the catalogue, each subject, and no others', () => {
  const ofStreams = ['UNSPECIFIED', 'SNAPSHOT', 'BOOKMARK', 'RESET'];
  const types = [...NAMES.values()].filter((name) => Number.isNaN(Number(name)) && !ofStreams.includes(name));
  expect(types.toSorted()).toStrictEqual(PUBLIC_EVENT_TYPES.map((name) => name.toUpperCase()).toSorted());
  const subjects = EventSchema.oneofs[0]!.fields.map(({ localName }) => localName);
  const { bookmark: _, reset: __, ...fields } = Object.fromEntries(subjects.map((name) => [name, true]));
  expect(Object.keys(fields).toSorted()).toStrictEqual(Object.keys(SUBJECT_RENDERERS).toSorted());
});

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

describe('a dispute', () => {
  test('is told with what is disputed and why, and so is its end', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 2000 });
    await emptyLog(app.service.deps.db, idOf(tenant));
    const { id } = app.sandbox.control.dispute(payment, { amount: 1200, reason: 'duplicate' });
    app.sandbox.control.loseDispute(id);
    await app.settled();
    const about = { paymentId: payment, reference: id };
    const events = (await told(tenant)).filter(([type]) => type.startsWith('PAYMENT_DISPUTE'));
    expect(events).toMatchObject([
      ['PAYMENT_DISPUTED', { ...about, kind: 'dispute', amountMicros: 12_000_000n, reason: 'duplicate' }],
      ['PAYMENT_DISPUTE_CLOSED', { ...about, outcome: 'lost' }],
    ]);
  });

  test('whose reason is not known has none', () => {
    const subject = {
      paymentId: 'pi_1',
      kind: 'fraud_warning',
      reference: 'issfr_1',
      amount: '1',
      reason: null,
    } as const;
    expect(rendered({ type: 'payment_disputed', subject })).toStrictEqual({
      case: 'paymentDispute',
      value: { paymentId: 'pi_1', kind: 'fraud_warning', reference: 'issfr_1', amountMicros: 1n, reason: '' },
    });
  });
});

test('a card that expires soon is told', async () => {
  const tenant = await app.paidTenant();
  await app.request('PUT', '/v1/billing/auto-top-up', {
    key: tenant.key,
    body: { enabled: true, below_cents: 500, amount_cents: 2000 },
  });
  const { db } = app.service.deps;
  await db.query(
    `update payment_settings set card_ends_on = (now() at time zone 'UTC')::date + 20 where tenant_id = $1`,
    [idOf(tenant)],
  );
  const { rows } = await db.query(
    `select to_char(card_ends_on - 1, 'YYYY-MM') as month from payment_settings where tenant_id = $1`,
    [idOf(tenant)],
  );
  await tellExpiringCards(app.service.deps);
  expect(await told(tenant)).toMatchObject([
    ['CARD_EXPIRING', { brand: 'visa', last4: '4242', expires: rows[0].month }],
  ]);
});

describe('a threshold', () => {
  const adjust = (tenant: TestTenant, amount: bigint) =>
    post(app.service.deps.db, idOf(tenant), { kind: 'adjustment', amount });

  test('of credit is told when the balance falls below it, and when it is above it again', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    await setAlerts(app, tenant, balance(10_000_000));
    await adjust(tenant, -10_000_001n);
    await adjust(tenant, 10_000_001n);
    expect(await told(tenant)).toMatchObject([
      ['BALANCE_LOW', { balanceMicros: 9_999_999n, belowMicros: 10_000_000n }],
      ['BALANCE_RECOVERED', { balanceMicros: 20_000_000n, belowMicros: 10_000_000n }],
    ]);
  });

  test('of hours is told with how long the credit lasts', async () => {
    const tenant = await app.paidTenant({ cents: 2000 });
    // Ten hours of a host.
    const record = () => usageRecord({ tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 });
    await app.request('POST', '/v1/usage', {
      key: tenant.relayKey,
      body: { records: Array.from({ length: 10 }, record) },
    });
    await setAlerts(app, tenant, runway(70));
    await adjust(tenant, -10_000_000n);
    await adjust(tenant, 10_000_000n);
    const threshold = { below: { seconds: 252_000n }, burnPerHourMicros: 251_457n, emptyTime: SOME_TIME };
    expect(await told(tenant)).toMatchObject([
      // 38.76 hours.
      ['RUNWAY_LOW', { ...threshold, balanceMicros: 9_748_543n, runway: { seconds: 139_536n, nanos: 0 } }],
      ['RUNWAY_RECOVERED', { ...threshold, balanceMicros: 19_748_543n, runway: { seconds: 282_708n } }],
    ]);
  });

  test.each<[string, Pick<RunwayAlert, 'runwayHours' | 'emptyAt'>, object]>([
    ['nothing is used', { runwayHours: null, emptyAt: null }, {}],
    ['nothing is left', { runwayHours: 0, emptyAt: null }, { runway: { seconds: 0n } }],
    [
      'the end is near',
      { runwayHours: 0.01, emptyAt: new Date(1_800_000_000_123) },
      { runway: { seconds: 36n }, emptyTime: at(new Date(1_800_000_000_123)) },
    ],
    [
      'the credit lasts longer than a duration can say',
      { runwayHours: 9e18, emptyAt: null },
      { runway: { seconds: 315_576_000_000n } },
    ],
  ])('of hours, when %s', (_, left, expected) => {
    const subject = { balance: '-5', belowHours: 1, burnPerHour: '7', ...left };
    expect(rendered({ type: 'runway_low', subject })).toStrictEqual({
      case: 'runwayAlert',
      value: { balanceMicros: -5n, below: { seconds: 3600n }, burnPerHourMicros: 7n, ...expected },
    });
  });
});

test('conflicting reports are told with their ids', async () => {
  const tenant = await app.paidTenant();
  const record = usageRecord();
  for (const seconds of [60, 61]) {
    const body = { records: [{ ...record, seconds }] };
    expect((await app.request('POST', '/v1/usage', { key: tenant.relayKey, body })).status).toBe(200);
  }
  expect(await told(tenant)).toMatchObject([
    ['CONFLICTING_DUPLICATES', { count: 1n, ids: [record.id], firstTime: SOME_TIME }],
  ]);
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

test('a replaced key is told before it stops working', async () => {
  const tenant = await app.signUp();
  const { key } = tenant;
  const created = await app.request('POST', '/v1/keys', { key, body: { name: 'studio', kind: 'relay' } });
  const { id } = created.json.key;
  await app.request('POST', `/v1/keys/${id}/rotate`, { key, body: { overlap_seconds: 3600 } });
  const { db } = app.service.deps;
  await emptyLog(db, idOf(tenant));
  const [changed] = await changeReferenceTable(
    db,
    `update api_keys set retirement_notice_at = now() where id = $1 returning retires_at`,
    [id],
  );
  await tellRetiringKeys(app.service.deps);
  expect(await told(tenant)).toMatchObject([
    ['KEY_RETIRING', { keyId: id, name: 'studio', kind: 'relay', retireTime: at(changed!.retires_at) }],
  ]);
});

test('a webhook that the service pauses is told, with no more of its address than the host', async () => {
  const tenant = await app.signUp();
  receiver.answer('/secret', () => 410);
  const { id } = await makeWebhook(app, tenant, receiver.url('/secret'), { description: 'a test' });
  await appendCounted(app, tenant, 1);
  const paused = await vi.waitFor(
    async () => {
      const found = (await told(tenant)).filter(([type]) => type === 'WEBHOOK_PAUSED');
      expect(found).toHaveLength(1);
      return found[0]![1];
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(paused).toStrictEqual({
    $typeName: 'boxoffice.control.v1.WebhookPause',
    webhookId: id,
    host: new URL(receiver.url()).host,
    description: 'a test',
    reason: 'gone',
    seq: 1n,
    attempts: 1,
    status: 410,
    error: '',
  });
});

test('a webhook that got no answer, and has no description', () => {
  const pause = { webhookId: 'wh_1', host: 'x.example', reason: 'failing', seq: 7, attempts: 10 } as const;
  const subject = { ...pause, description: null, status: null, error: 'ECONNREFUSED' };
  expect(rendered({ type: 'webhook_paused', subject })).toStrictEqual({
    case: 'webhookPause',
    value: { ...pause, seq: 7n, description: '', status: 0, error: 'ECONNREFUSED' },
  });
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
