/**
 * Each type of event, from the operation to `GET /v1/events`, where it has to be as its schema says.
 */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { Watchdog_Action as Action } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { expect, test } from 'vitest';
import { tellRetiringKeys } from '../../../src/access/keys/tell-retiring-keys.ts';
import { tellExpiringCards } from '../../../src/money/cards/tell-expiring-cards.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { startOf } from '../../../src/money/month.ts';
import { tellingStatements } from '../../../src/money/statements/tell-statements.ts';
import { PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE } from '../../../src/outward/events/event-catalogue.ts';
import { put, spend, wanted } from '../../control/budgets/support.ts';
import { balance, runway, setAlerts } from '../../money/alerts/support.ts';
import { moved } from '../../support/append-only.ts';
import { useControl } from '../../support/grpc.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { checkEvent } from '../../support/real-events.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { makeWebhook } from '../webhooks/support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS });
const receiver = useReceiver();
const controlOf = useControl(app);
const db = () => app.service.deps.db;

const DAY_MS = 86_400_000;
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

/** Types of the tenant's events so far. Each is compared with its schema. */
async function typesOf({ key }: TestTenant): Promise<string[]> {
  const { json } = await app.request('GET', '/v1/events?limit=1000', { key });
  for (const event of json.events) checkEvent(event);
  return json.events.map(({ type }: { type: string }) => type);
}

async function told(tenant: TestTenant, ...types: string[]): Promise<void> {
  await expect.poll(() => typesOf(tenant)).toEqual(expect.arrayContaining(types));
  for (const type of types) seen.add(type);
}

const seen = new Set<string>();

const report = ({ relayKey }: TestTenant, records: object[]) =>
  app.request('POST', '/v1/usage', { key: relayKey, body: { records } });
const adjust = (tenant: TestTenant, amount: bigint) =>
  post(db(), idOf(tenant), { kind: 'adjustment', amount });

test('rooms, participants, moderation', async () => {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  const room = 'lobby';
  await control.call(RoomService.method.createRoom, { room, metadata: 'mine' });
  await control.call(RoomService.method.updateRoomPolicy, {
    room,
    policy: { maxParticipants: 5, hostCapabilities: ['roster.view'] },
    updateMask: { paths: ['max_participants', 'host_capabilities'] },
  });
  const mint = { room, username: 'ann', deviceThumbprint: THUMBPRINT, customer: 'acme' };
  await control.call(TokenService.method.mintClientToken, mint);
  await report(tenant, [usageRecord({ room, participant: 'ann' })]);
  await control.call(TokenService.method.mintClientToken, { ...mint, role: 'host', rank: 7 });
  await control.call(ModerationService.method.forceMute, {
    room,
    username: 'ann',
    tracks: [1],
  });
  await control.call(ModerationService.method.banSubject, {
    room,
    subject: { case: 'username', value: 'ann' },
    ttl: { seconds: 60n },
    reason: 'why',
  });
  await control.call(RoomService.method.endRoom, { room });
  await told(tenant, 'room_created', 'room_updated', 'room_ended', 'moderation');
  await told(tenant, 'participant_entered', 'participant_updated', 'participant_left');
});

test('watchdogs', async () => {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  const { room } = await control.call(RoomService.method.createRoom, { room: 'lobby' });
  const create = async (warnBefore?: { seconds: bigint }) => {
    const condition = { case: 'maxDuration', value: { seconds: 3600n } } as const;
    const wanted = { room: 'lobby', condition, action: Action.NOTIFY, ...(warnBefore && { warnBefore }) };
    return (await control.call(WatchdogService.method.createWatchdog, { watchdog: wanted })).watchdog!.id;
  };
  const age = async (watchdog: string, by: string) => {
    await db().query(`update rooms set created_at = ${moved('created_at', by)} where uid = $1`, [room!.uid]);
    await db().query('update watchdogs set check_at = now() where id = $1 and fired_at is null', [watchdog]);
  };
  const warning = await create({ seconds: 1800n });
  await age(warning, '-40 minutes');
  await told(tenant, 'watchdog_warned');
  await control.call(WatchdogService.method.deleteWatchdog, { id: warning });
  await told(tenant, 'watchdog_rearmed');
  await age(await create(), '-400 days');
  await told(tenant, 'watchdog_fired');
});

test('payments, credit, the status of the tenant', async () => {
  const tenant = await app.signUp();
  const { payment } = await app.pay(tenant, { cents: 2000 });
  await told(tenant, 'tenant_status_changed', 'credit_restored', 'top_up_succeeded');
  const { id } = app.sandbox.control.dispute(payment, { amount: 1200, reason: 'duplicate' });
  app.sandbox.control.loseDispute(id);
  await app.settled();
  await told(tenant, 'payment_disputed', 'payment_dispute_closed', 'payment_reversed');
  await adjust(tenant, -20_000_000n);
  await told(tenant, 'credit_spent');
});

test('an automatic top-up that fails, and a card that expires', async () => {
  const tenant = await app.paidTenant({ cents: 2000, card: '4000000000000341' });
  const body = { enabled: true, below_cents: 1900, amount_cents: 5000 };
  await app.request('PUT', '/v1/billing/auto-top-up', { key: tenant.key, body });
  await db().query(
    `update payment_settings set card_ends_on = (now() at time zone 'UTC')::date + 20 where tenant_id = $1`,
    [idOf(tenant)],
  );
  await tellExpiringCards(app.service.deps);
  await told(tenant, 'card_expiring');
  const large = usageRecord({ role: 'host', tier: '2k_plus', seconds: 86_400, egress_bytes: 100 * 2 ** 40 });
  await report(tenant, [large]);
  await told(tenant, 'top_up_failed');
});

test('thresholds', async () => {
  const tenant = await app.paidTenant({ cents: 2000 });
  const record = () => usageRecord({ tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 });
  await report(tenant, Array.from({ length: 10 }, record));
  await setAlerts(app, tenant, balance(10_000_000), runway(70));
  await adjust(tenant, -10_000_000n);
  await adjust(tenant, 10_000_000n);
  await told(tenant, 'balance_low', 'balance_recovered', 'runway_low', 'runway_recovered');
});

test('budgets, grants, statements, conflicting reports', async () => {
  const tenant = await app.paidTenant();
  await put(app, tenant, wanted({ max: 100n, hard: false, shares: [50] }));
  await spend(app, tenant, { participant: 'ann', seconds: 1, micros: 60n });
  const expiresAt = new Date(Date.now() + 2 * DAY_MS);
  await grantCredit(db(), OPERATOR, idOf(tenant), {
    amount: 10n,
    reason: 'a gift',
    expiresAt,
    key: undefined,
  });
  await endGrants(app.service.deps);
  const record = usageRecord();
  for (const seconds of [60, 61]) await report(tenant, [{ ...record, seconds }]);
  await told(tenant, 'budget_alert', 'grant_expiring', 'conflicting_duplicates');

  const other = await app.signUp();
  await adjust(other, 5_000_000n);
  const lastMonth = new Date(startOf(monthsAgo(1)).getTime() + 3_600_000).toISOString();
  await moveInTime(db(), idOf(other), [lastMonth]);
  await tellingStatements(
    app.service.deps,
    async () => new Date(startOf(monthsAgo(0)).getTime() + 14 * DAY_MS),
  )();
  await told(other, 'statement_ready');
});

test('keys and device credentials', async () => {
  const tenant = await app.signUp();
  const { key } = tenant;
  for (const [path, member, body] of [
    ['/v1/keys', 'key', { name: 'studio', kind: 'relay' }],
    [
      '/v1/device-credentials',
      'device_credential',
      { name: 'kiosk', publish: ['audio'], rooms: ['stage-*'] },
    ],
  ] as const) {
    const created = await app.request('POST', path, { key, body });
    const old = created.json[member].id;
    const rotated = await app.request('POST', `${path}/${old}/rotate`, {
      key,
      body: { overlap_seconds: 3600 },
    });
    await app.request('DELETE', `${path}/${rotated.json[member].id}`, { key });
    if (member === 'key') {
      const due = 'update api_keys set retirement_notice_at = now() where id = $1 returning id';
      await changeReferenceTable(db(), due, [old]);
    }
  }
  await tellRetiringKeys(app.service.deps);
  await told(tenant, 'key_created', 'key_rotated', 'key_revoked', 'key_retiring');
  await told(tenant, ...['created', 'rotated', 'revoked'].map((what) => `device_credential_${what}`));
});

test('a webhook that is paused, and one that is tried out', async () => {
  const tenant = await app.signUp();
  receiver.answer('/gone', () => 410);
  const { id } = await makeWebhook(app, tenant, receiver.url('/gone'), { description: 'mine' });
  const tried = await app.request('POST', `/v1/webhooks/${id}/test`, { key: tenant.key });
  expect(tried.status).toBe(200);
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'second' } });
  await told(tenant, 'webhook_paused');
  const [first] = receiver.received('/gone');
  expect(first!.event.type).toBe(TEST_EVENT_TYPE);
});

test('no type was left out', () => {
  expect([...seen].toSorted()).toEqual(PUBLIC_EVENT_TYPES.toSorted());
});
