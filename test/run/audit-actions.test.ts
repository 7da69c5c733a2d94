/** Every action of the audit trail, made as tenants and operators make it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TokenService } from '@boxoffice/contract/token_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rotateOnSchedule } from '../../src/access/tokens/rotate-signing-keys.ts';
import { findAuditEntriesOfAll } from '../../src/base/audit/audit-entries.sql.ts';
import type { AuditEntry } from '../../src/base/audit/audit-entry.ts';
import { isDistributed } from '../../src/base/db/distribution.ts';
import { findNow } from '../../src/base/db/find-now.sql.ts';
import type { Route } from '../../src/doors/rest/route.ts';
import { ROUTES } from '../../src/doors/rest/server.ts';
import { grantCredit } from '../../src/money/grants/grant-credit.ts';
import { BUILT_IN_RATES } from '../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../src/money/pricing/rate-cards.ts';
import { operator } from '../../src/run/admin/operator.ts';
import { expectOk } from '../doors/rest/support.ts';
import { createCredential } from '../support/devices.ts';
import { useControl } from '../support/grpc.ts';
import { nextInstant } from '../support/instant.ts';
import { type Answer, type TestTenant, usageRecord, useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';
import { runAdmin } from './admin/support.ts';

const app = useService();
const controlOf = useControl(app);
const ADDRESS = '203.0.113.9';
const SECRETS_KEY = Buffer.alloc(32).toString('base64');
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/);
const ID = expect.stringMatching(/^[0-9a-f]{16}$/);
const WEBHOOK = expect.stringMatching(/^wh_[0-9a-f]{32}$/);
const GRANT = expect.stringMatching(/^gr_[0-9a-f]{32}$/);
const KID = expect.stringMatching(/^[\w-]{43}$/);

const BUDGET = { period: 'day', limit_micros: 5, hard: false, alert_percents: [50] };

let tenant: TestTenant;
/** A grant that is voided. */
let granted: string;
/** Whatever answers and commands showed once. */
const secrets: string[] = [];

beforeAll(async () => {
  await noteWrites();
  tenant = await app.paidTenant();
  const given = { amount: 7n, reason: 'a gift', expiresAt: undefined, key: undefined };
  granted = (await grantCredit(db(), operator(), idOf(tenant), given)).grant.id;
});

const db = () => app.service.deps.db;
const entries = () => findAuditEntriesOfAll(db(), { limit: 100_000 });

/** What `act` leaves in the trail, the oldest first. */
async function entriesOf(act: () => Promise<unknown>): Promise<AuditEntry[]> {
  const known = new Set((await entries()).map(({ id }) => id));
  await act();
  return (await entries()).filter(({ id }) => !known.has(id)).reverse();
}

/** The rows of the REST routes that tenants called. */
const called: Route['row'][] = [];

function rowOf(method: string, path: string): Route['row'] {
  const segments = `${method} ${path}`.split('/');
  return ROUTES.find(({ row }) => {
    const names = row.path.split('/');
    return (
      names.length === segments.length && names.every((name, at) => name[0] === ':' || name === segments[at])
    );
  })!.row;
}

async function ask(method: string, path: string, body?: object, idempotencyKey?: string): Promise<Answer> {
  called.push(rowOf(method, path));
  const answer = await app.request(method, path, {
    key: tenant.key,
    headers: {
      'x-forwarded-for': ADDRESS,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body && { body }),
  });
  secrets.push(
    ...[answer.json?.api_key, answer.json?.credential, answer.json?.secret].filter(
      (each) => each !== undefined,
    ),
  );
  return answer;
}

async function admin(...args: string[]) {
  const done = await runAdmin({ DATABASE_URL: app.ownerUrl, SECRETS_KEY }, ...args);
  expect(done, done.err).toMatchObject({ code: 0 });
  return done;
}

const newKey = async (): Promise<string> =>
  expectOk(await ask('POST', '/v1/keys', { name: 'x', kind: 'relay' }), 201).key.id;
const newWebhook = async (): Promise<string> =>
  expectOk(await ask('POST', '/v1/webhooks', { url: 'https://x.example/', types: ['watchdog_warned'] }), 201)
    .webhook.id;
/** As if the webhook had given up on the newest event. */
const giveUpNewest = (id: string) =>
  db().query(
    `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status, gave_up)
     select tenant_id, $2, 'aside', 'evt_0', max(seq), 'key_created', 10, 1, 500, true
       from events where tenant_id = $1 group by tenant_id`,
    [idOf(tenant), id],
  );
const newCredential = async () => {
  const { id, credential } = await createCredential(app, tenant);
  secrets.push(credential);
  return id;
};

/** Keep in `written` which tables each transaction writes. The rows do not tell it when a job writes them again. */
async function noteWrites(): Promise<void> {
  // A cluster's transaction has a number on each server.
  if (isDistributed()) return;
  const { pool } = app.database;
  await pool.query(
    `create table written (transaction xid8, name text);
     create function note_write() returns trigger language plpgsql as
       'begin insert into written values (pg_current_xact_id(), tg_table_name); return null; end'`,
  );
  const tables = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables
      where schemaname = 'public' and tablename not in ('audit_entries', 'written')`,
  );
  for (const { name } of tables.rows) {
    await pool.query(
      `create trigger note_write after insert or update or delete on ${name} for each row execute function note_write()`,
    );
  }
}

/** The entry's transaction wrote these tables beside its own, or at least one. */
async function expectWrittenWith({ id }: AuditEntry, wanted?: unknown): Promise<void> {
  if (isDistributed()) return;
  const { rows } = await db().query<{ name: string }>(
    `select distinct name from written
      where transaction::xid = (select xmin from audit_entries where id = $1)`,
    [id],
  );
  const found = rows.map(({ name }) => name);
  expect(found).not.toEqual([]);
  if (wanted !== undefined) expect(found).toEqual(wanted);
}

interface Case {
  readonly action: string;
  /** What is changed; its id goes to `act`, and is the subject of the entry unless `subject` says otherwise. */
  readonly prepare?: () => Promise<string>;
  readonly act: (id: string) => Promise<unknown>;
  readonly subject?: unknown;
  readonly before: unknown;
  readonly after: unknown;
  /** Doing it again changes nothing. */
  readonly again?: true;
}

const BY_TENANT: readonly Case[] = [
  {
    action: 'key_created',
    act: () => ask('POST', '/v1/keys', { name: 'relay 1', kind: 'relay' }),
    subject: ID,
    before: null,
    after: { name: 'relay 1', kind: 'relay' },
  },
  {
    action: 'key_rotated',
    prepare: newKey,
    act: (id) => ask('POST', `/v1/keys/${id}/rotate`, { overlap_seconds: 60 }),
    before: { replaced_by: null, retires_at: null },
    after: { replaced_by: ID, retires_at: TIME },
    again: true,
  },
  {
    action: 'key_revoked',
    prepare: newKey,
    act: (id) => ask('DELETE', `/v1/keys/${id}`),
    before: { revoked_at: null },
    after: { revoked_at: TIME },
    again: true,
  },
  {
    action: 'device_credential_created',
    act: () => ask('POST', '/v1/device-credentials', { name: 'kiosk', publish: ['audio'], rooms: ['a-*'] }),
    subject: ID,
    before: null,
    after: { name: 'kiosk', publish: ['audio'], rooms: ['a-*'], default_room: null, expires_at: null },
  },
  {
    action: 'device_credential_rotated',
    prepare: newCredential,
    act: (id) => ask('POST', `/v1/device-credentials/${id}/rotate`, {}),
    before: { replaced_by: null, retires_at: null },
    after: { replaced_by: ID, retires_at: TIME },
    again: true,
  },
  {
    action: 'device_credential_revoked',
    prepare: newCredential,
    act: (id) => ask('DELETE', `/v1/device-credentials/${id}`),
    before: { revoked_at: null },
    after: { revoked_at: TIME },
    again: true,
  },
  {
    action: 'webhook_created',
    act: () => newWebhook(),
    subject: WEBHOOK,
    before: null,
    after: {
      host: 'x.example',
      types: ['watchdog_warned'],
      rooms: [],
      description: '',
      order: 'tenant',
      max_in_flight: 10,
      max_per_second: null,
      format: 'boxoffice',
      max_batch: 1,
      header_names: [],
      has_basic_auth: false,
    },
  },
  {
    action: 'webhook_changed',
    prepare: newWebhook,
    act: (id) =>
      ask('PATCH', `/v1/webhooks/${id}`, { description: 'two', url: 'https://x.example/very-secret' }),
    before: { description: '' },
    after: { description: 'two' },
    again: true,
  },
  {
    action: 'webhook_changed',
    prepare: newWebhook,
    act: (id) => ask('PATCH', `/v1/webhooks/${id}`, { url: 'https://x.example/very-secret' }),
    before: { host: 'x.example' },
    after: { host: 'x.example' },
    again: true,
  },
  {
    action: 'webhook_paused',
    prepare: newWebhook,
    act: (id) => ask('PATCH', `/v1/webhooks/${id}`, { paused: true }),
    before: { paused_by: null },
    after: { paused_by: 'tenant' },
    again: true,
  },
  {
    action: 'webhook_resumed',
    prepare: async () => {
      const id = await newWebhook();
      await ask('PATCH', `/v1/webhooks/${id}`, { paused: true });
      return id;
    },
    act: (id) => ask('PATCH', `/v1/webhooks/${id}`, { paused: false }),
    before: { paused_by: 'tenant' },
    after: { paused_by: null },
    again: true,
  },
  {
    action: 'webhook_moved_back',
    prepare: async () => {
      await newKey();
      const id = await newWebhook();
      await ask('PATCH', `/v1/webhooks/${id}`, { paused: true });
      return id;
    },
    act: (id) => ask('POST', `/v1/webhooks/${id}/resend`, { since: '2020-01-01T00:00:00Z' }),
    before: { seq: expect.any(Number) },
    after: { seq: 0 },
    again: true,
  },
  {
    action: 'webhook_resent',
    prepare: async () => {
      await newKey();
      const id = await newWebhook();
      await ask('PATCH', `/v1/webhooks/${id}`, { paused: true });
      await giveUpNewest(id);
      return id;
    },
    act: (id) =>
      ask('POST', `/v1/webhooks/${id}/resend`, { since: '2020-01-01T00:00:00Z', only_failed: true }),
    before: { failed_since: null, events: null },
    after: { failed_since: TIME, events: 1 },
    again: true,
  },
  {
    action: 'webhook_rotated',
    prepare: newWebhook,
    act: (id) => ask('POST', `/v1/webhooks/${id}/rotate`, { overlap_seconds: 60 }),
    before: { old_secret_retires_at: null },
    after: { old_secret_retires_at: TIME },
  },
  {
    action: 'webhook_deleted',
    prepare: newWebhook,
    act: (id) => ask('DELETE', `/v1/webhooks/${id}`),
    before: {
      host: 'x.example',
      types: ['watchdog_warned'],
      rooms: [],
      description: '',
      order: 'tenant',
      max_in_flight: 10,
      max_per_second: null,
      format: 'boxoffice',
      max_batch: 1,
      header_names: [],
      has_basic_auth: false,
    },
    after: null,
    again: true,
  },
  {
    action: 'auto_top_up_changed',
    act: () => ask('PUT', '/v1/billing/auto-top-up', { enabled: true, below_cents: 500, amount_cents: 2000 }),
    subject: null,
    before: { enabled: false, below_micros: 0, amount_micros: 0 },
    after: { enabled: true, below_micros: 5_000_000, amount_micros: 20_000_000 },
    again: true,
  },
  {
    action: 'alerts_changed',
    act: () => ask('PUT', '/v1/alerts', { thresholds: [{ kind: 'balance', below_micros: 5 }] }),
    subject: null,
    before: { thresholds: [] },
    after: { thresholds: [{ kind: 'balance', below_micros: 5 }] },
    again: true,
  },
  {
    action: 'budget_made',
    act: () => ask('PUT', '/v1/budgets/all', BUDGET),
    subject: 'all',
    before: null,
    after: { ...BUDGET, key: null, room: null },
    again: true,
  },
  {
    action: 'budget_changed',
    act: () => ask('PUT', '/v1/budgets/all', { ...BUDGET, limit_micros: 6 }),
    subject: 'all',
    before: { limit_micros: 5 },
    after: { limit_micros: 6 },
    again: true,
  },
  {
    action: 'budget_deleted',
    act: () => ask('DELETE', '/v1/budgets/all'),
    subject: 'all',
    before: { ...BUDGET, key: null, room: null, limit_micros: 6 },
    after: null,
  },
  {
    action: 'billing_details_changed',
    act: () => ask('PUT', '/v1/billing/details', { address: ['1 Example Street'], tax_id: 'DE1' }),
    subject: null,
    before: { address: [], tax_id: null },
    after: { address: ['1 Example Street'], tax_id: 'DE1' },
    again: true,
  },
  {
    action: 'time_zone_changed',
    act: () => ask('PUT', '/v1/billing/time-zone', { time_zone: 'Asia/Tokyo' }),
    subject: null,
    before: { time_zone: 'UTC' },
    after: { time_zone: 'Asia/Tokyo' },
    again: true,
  },
  {
    action: 'mail_settings_changed',
    act: () => ask('PUT', '/v1/mail', { addresses: [], alerts: true, receipts: false }),
    subject: null,
    before: { receipts: true },
    after: { receipts: false },
    again: true,
  },
  {
    action: 'erasure_requested',
    act: () => ask('POST', '/v1/participants/erase', { participant: 'Zelda.Erased' }),
    subject: expect.stringMatching(/^er_/),
    before: null,
    after: { state: 'pending' },
  },
];

describe('a change by a tenant', () => {
  test.each(BY_TENANT)('$action', async ({ action, prepare, act, subject, before, after, again }) => {
    const id = (await prepare?.()) ?? '';
    const callsBefore = called.length;
    const made = await entriesOf(() => act(id));
    expect(called.slice(callsBefore).flatMap((row) => row.audit)).toContain(action);
    expect(made).toEqual([
      {
        id: expect.stringMatching(/^au_[0-9a-f]{32}$/),
        tenant: idOf(tenant),
        at: expect.any(Date),
        actorKind: 'key',
        actorId: tenant.keyId,
        address: ADDRESS,
        action,
        subject: subject === undefined ? id : subject,
        before,
        after,
      },
    ]);
    await expectWrittenWith(made[0]!);
    if (again) expect(await entriesOf(() => act(id))).toEqual([]);
  });

  test('is one of those that the rows of the routes name', () => {
    const named = new Set(ROUTES.flatMap(({ row }) => row.audit ?? []));
    expect([...named].sort()).toEqual([...new Set(BY_TENANT.map(({ action }) => action))].sort());
  });

  test('over gRPC has the address of the peer', async () => {
    const at = controlOf(tenant);
    const { method } = TokenService;
    let id = '';
    const made = await entriesOf(async () => {
      const created = await at.call(method.createDeviceCredential, { name: 'a', publish: [TrackKind.AUDIO] });
      secrets.push(created.credential);
      id = created.deviceCredential!.id;
      await at.call(method.revokeDeviceCredential, { id });
    });
    expect(made.map(({ action, subject }) => [action, subject])).toEqual([
      ['device_credential_created', id],
      ['device_credential_revoked', id],
    ]);
    for (const { actorKind, actorId, address } of made) {
      expect([actorKind, actorId, address]).toEqual(['key', tenant.keyId, '127.0.0.1']);
    }
  });

  test('repeated with its idempotency key has one entry', async () => {
    const create = () => ask('POST', '/v1/keys', { name: 'once', kind: 'relay' }, 'the-same-key');
    const made = await entriesOf(async () => {
      expectOk(await create(), 201);
      expectOk(await create(), 201);
    });
    expect(made).toHaveLength(1);
  });

  test.each([
    ['an unknown key', 'DELETE', '/v1/keys/0123456789abcdef', undefined],
    ['its own key', 'DELETE', () => `/v1/keys/${tenant.keyId}`, undefined],
    [
      'a credential of rooms without the default',
      'POST',
      '/v1/device-credentials',
      { rooms: ['a'], default_room: 'b' },
    ],
    ['automatic top-up without amounts', 'PUT', '/v1/billing/auto-top-up', { enabled: true }],
  ] as const)('that is refused has none: %s', async (_what, method, path, fields) => {
    const body = fields && ('rooms' in fields ? { name: 'x', publish: ['audio'], ...fields } : fields);
    const made = await entriesOf(async () => {
      const answer = await ask(method, typeof path === 'string' ? path : path(), body);
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    });
    expect(made).toEqual([]);
  });

  test('that fails after its entry has none', async () => {
    await db().query('alter table unnumbered_events add constraint failing check (false) not valid');
    const made = await entriesOf(async () => {
      expect((await ask('POST', '/v1/keys', { name: 'undone' })).status).toBe(500);
    });
    await db().query('alter table unnumbered_events drop constraint failing');
    expect(made).toEqual([]);
  });

  test('usage, joins and lists have none', async () => {
    const credential = (await createCredential(app, tenant)).credential;
    secrets.push(credential);
    const made = await entriesOf(async () => {
      const record = { id: 'r1', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 1, ingress_bytes: 0 };
      expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [record] } }));
      expectOk(await ask('GET', '/v1/keys'));
      const joined = await app.request('POST', '/join', {
        key: credential,
        body: { username: 'ann', device: 'A'.repeat(43) },
      });
      expect(joined.status, joined.text).toBe(200);
    });
    expect(made).toEqual([]);
  });
});

interface OperatorCase {
  readonly action: string;
  readonly args: () => string[];
  readonly subject: () => unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly again?: true;
}

const whole = () => tenant.id;
const BY_OPERATOR: readonly OperatorCase[] = [
  {
    action: 'tenant_status_changed',
    args: () => ['tenants', 'suspend', tenant.id, '--reason', 'test', '--tell', 'Ask us.'],
    subject: whole,
    before: { status: 'active' },
    after: { status: 'suspended' },
  },
  {
    action: 'tenant_status_changed',
    args: () => ['tenants', 'resume', tenant.id, '--reason', 'test'],
    subject: whole,
    before: { status: 'suspended' },
    after: { status: 'active' },
  },
  {
    action: 'tenant_renamed',
    args: () => ['tenants', 'rename', tenant.id, '--name', 'Ada & Co', '--reason', 'a merger'],
    subject: whole,
    before: { name: expect.any(String) },
    after: { name: 'Ada & Co', reason: 'a merger' },
    again: true,
  },
  {
    action: 'tenant_exemption_changed',
    args: () => ['tenants', 'exempt', tenant.id],
    subject: whole,
    before: { exempt: false },
    after: { exempt: true },
    again: true,
  },
  {
    action: 'tenant_limits_changed',
    args: () => ['tenants', 'limits', tenant.id, '--set', 'rooms=7', '--reason', 'test'],
    subject: whole,
    before: { rooms: null },
    after: { rooms: 7 },
    again: true,
  },
  {
    action: 'credit_adjusted',
    args: () => ['credit', 'adjust', tenant.id, '1.50', '--reason', 'a gift', '--id', 'gift-1'],
    subject: () => 'gift-1',
    before: { balance_micros: expect.any(Number) },
    after: { balance_micros: expect.any(Number), amount_micros: 1_500_000, reason: 'a gift' },
    again: true,
  },
  {
    action: 'credit_granted',
    args: () => [
      'credit',
      'grant',
      tenant.id,
      '2.50',
      '--reason',
      'a gift',
      '--expires',
      '2100-01-01',
      '--id',
      'gift-2',
    ],
    subject: () => GRANT,
    before: { balance_micros: expect.any(Number) },
    after: {
      balance_micros: expect.any(Number),
      amount_micros: 2_500_000,
      expires_at: '2100-01-01T00:00:00.000Z',
      reason: 'a gift',
    },
    again: true,
  },
  {
    action: 'grant_voided',
    args: () => ['credit', 'void', tenant.id, granted, '--reason', 'a slip'],
    subject: () => granted,
    before: { balance_micros: expect.any(Number) },
    after: { balance_micros: expect.any(Number), left_micros: 7, reason: 'a slip' },
    again: true,
  },
  {
    action: 'key_ceiling_changed',
    args: () => ['key-ceiling', tenant.relayKeyId, '--rank', '5', '--rooms', 'class-*'],
    subject: () => tenant.relayKeyId,
    before: { rank: 80, rooms: null },
    after: { rank: 5, rooms: ['class-*'] },
    again: true,
  },
  {
    action: 'tenant_exported',
    args: () => ['tenants', 'export', tenant.id],
    subject: whole,
    before: null,
    after: null,
  },
  {
    action: 'erasure_requested',
    args: () => ['participants', 'erase', tenant.id, 'Another.Erased'],
    subject: () => expect.stringMatching(/^er_/),
    before: null,
    after: { state: 'pending' },
  },
];

describe('a change by an operator', () => {
  test.each(BY_OPERATOR)('$action: $after', async ({ action, args, subject, before, after, again }) => {
    const made = await entriesOf(() => admin(...args()));
    expect(made).toEqual([
      {
        id: expect.any(String),
        tenant: idOf(tenant),
        at: expect.any(Date),
        actorKind: 'operator',
        actorId: operator().id,
        address: null,
        action,
        subject: subject(),
        before,
        after,
      },
    ]);
    // An export only reads.
    if (action !== 'tenant_exported') await expectWrittenWith(made[0]!);
    if (again) expect(await entriesOf(() => admin(...args()))).toEqual([]);
  });

  test('auto_top_up_unfrozen', async () => {
    const frozen = `update payment_settings set frozen_by = '{du_1}', top_up_paused_until = 'infinity'
                     where tenant_id = $1`;
    await db().query(frozen, [idOf(tenant)]);
    const made = await entriesOf(() => admin('top-ups', 'unfreeze', tenant.id));
    expect(made).toMatchObject([
      {
        action: 'auto_top_up_unfrozen',
        before: { frozen_by: ['du_1'], paused_until: 'infinity' },
        after: { frozen_by: [], paused_until: null },
      },
    ]);
    await expectWrittenWith(made[0]!, expect.arrayContaining(['payment_settings']));
    expect(await entriesOf(() => admin('top-ups', 'unfreeze', tenant.id))).toEqual([]);
  });

  test('tenant_created, and its first key', async () => {
    const made = await entriesOf(async () => {
      const args = ['tenants', 'create', '--name', 'Grace', '--email', 'grace@example.com', '--json'];
      secrets.push((await admin(...args)).json.api_key);
    });
    expect(made).toMatchObject([
      { action: 'tenant_created', actorKind: 'operator', before: null, after: { status: 'pending' } },
      { action: 'key_created', actorKind: 'operator', after: { name: 'default', kind: 'backend' } },
    ]);
    expect(JSON.stringify(made.map(({ before, after }) => [before, after]))).not.toContain('race');
  });

  test('agent_key_created, and agent_key_revoked once', async () => {
    let id = '';
    const made = await entriesOf(async () => {
      const { json } = await admin(
        'agent-keys',
        'create',
        tenant.id,
        '--name',
        'assistant',
        '--days',
        '1',
        '--json',
      );
      secrets.push(json.agent_key);
      id = json.id;
      await admin('agent-keys', 'revoke', tenant.id, id);
      await admin('agent-keys', 'revoke', tenant.id, id);
    });
    const key = { name: 'assistant', role: 'viewer', writes_per_day: 0, expires_at: TIME };
    expect(made).toMatchObject([
      { action: 'agent_key_created', actorKind: 'operator', subject: id, before: null, after: key },
      { action: 'agent_key_revoked', actorKind: 'operator', subject: id, before: { revoked_at: null } },
    ]);
    const { json } = await admin('agent-keys', 'list', tenant.id, '--json');
    expect(json).toMatchObject([{ id, revoked_at: TIME }]);
  });

  test('rates_loaded, once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rates-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'rates.json');
    await writeFile(file, JSON.stringify({ ...BUILT_IN_RATES, platform_fee_per_gib: '0.07' }));
    const made = await entriesOf(() => admin('rates', 'load', file));
    await expectWrittenWith(made[0]!, ['rate_cards']);
    expect(made).toMatchObject([
      {
        tenant: null,
        actorKind: 'operator',
        action: 'rates_loaded',
        subject: '2',
        before: { version: 1 },
        after: { version: 2 },
      },
    ]);
    expect(await entriesOf(() => admin('rates', 'load', file))).toEqual([]);
  });

  test('charges_corrected', async () => {
    const charged = await app.paidTenant();
    const from = (await findNow(db())).toISOString();
    const records = [usageRecord({ tier: '2k_plus', seconds: 3_600, egress_bytes: 2 ** 30 })];
    expectOk(await app.request('POST', '/v1/usage', { key: charged.relayKey, body: { records } }));
    const to = await nextInstant(db());
    const { version } = await loadRates(db(), operator(), {
      ...BUILT_IN_RATES,
      platform_fee_per_gib: '0.001',
    });

    const period = ['--from', from, '--to', to.toISOString(), '--tenant', charged.id];
    const args = [
      'charges',
      'recompute',
      ...period,
      '--card',
      String(version),
      '--apply',
      '--reason',
      'wrong',
    ];
    const made = await entriesOf(() => admin(...args));
    expect(made).toMatchObject([
      {
        tenant: idOf(charged),
        action: 'charges_corrected',
        subject: `${from}/${to.toISOString()}`,
        before: { balance_micros: expect.any(Number) },
        after: {
          balance_micros: expect.any(Number),
          amount_micros: 69_000,
          rate_card: version,
          reason: 'wrong',
        },
      },
    ]);
    await expectWrittenWith(made[0]!, expect.arrayContaining(['corrections']));
    expect(await entriesOf(() => admin(...args))).toEqual([]);
  });

  test('signing keys: published, activated, removed, distrusted', async () => {
    const { box } = app.service.deps;
    const replaced = await entriesOf(() => admin('signing-keys', 'activate', '--compromised'));
    const [old, fresh] = [replaced[0]!.subject!, replaced.at(-1)!.subject!];
    const of = (made: readonly AuditEntry[]) =>
      made.map(({ tenant: of, action, subject, before, after }) => [of, action, subject, before, after]);
    expect(of(replaced)).toEqual([
      [
        null,
        'signing_key_distrusted',
        old,
        { state: 'active', compromised: false },
        { state: 'removed', compromised: true },
      ],
      [null, 'signing_key_published', KID, null, { state: 'pending' }],
      [null, 'signing_key_activated', fresh, { state: 'pending' }, { state: 'active' }],
    ]);

    await expectWrittenWith(replaced[0]!, ['signing_keys']);

    const rotated = await entriesOf(() => admin('signing-keys', 'rotate'));
    const pending = rotated[0]!.subject!;
    expect(of(rotated)).toEqual([[null, 'signing_key_published', pending, null, { state: 'pending' }]]);
    const removed = await entriesOf(() => admin('signing-keys', 'remove', '--', pending));
    expect(of(removed)).toEqual([
      [null, 'signing_key_removed', pending, { state: 'pending' }, { state: 'removed' }],
    ]);
    expect(await entriesOf(() => admin('signing-keys', 'remove', '--', pending))).toEqual([]);
    expect(await entriesOf(() => admin('signing-keys', 'distrust', '--', pending))).toMatchObject([
      { action: 'signing_key_distrusted', actorKind: 'operator', after: { compromised: true } },
    ]);
    expect(await entriesOf(() => rotateOnSchedule(db(), box))).toEqual([]);
  });
});

describe('a change by the service itself', () => {
  test('a signup, and the first payment', async () => {
    const made = await entriesOf(async () => {
      const body = { email: 'ada@example.com', name: 'Ada' };
      const answer = expectOk(await app.request('POST', '/v1/signup', { body }), 201);
      secrets.push(answer.api_key);
    });
    const bySignup = { actorKind: 'system', actorId: 'signup', address: null };
    expect(made).toMatchObject([
      { ...bySignup, action: 'tenant_created' },
      { ...bySignup, action: 'key_created' },
    ]);
    const fresh = await app.signUp();
    expect(await entriesOf(() => app.pay(fresh))).toMatchObject([
      {
        tenant: idOf(fresh),
        actorKind: 'system',
        actorId: 'payments',
        action: 'tenant_status_changed',
        before: { status: 'pending' },
        after: { status: 'active' },
      },
    ]);
  });

  test('its first rate card and signing key', async () => {
    const byService = (await entries()).filter(
      ({ tenant: of, actorKind }) => of === null && actorKind === 'system',
    );
    expect(byService.map(({ actorId, action }) => `${actorId} ${action}`).toSorted()).toEqual([
      'rates_file rates_loaded',
      'signing_keys signing_key_activated',
      'signing_keys signing_key_published',
    ]);
  });
});

test('no entry holds a secret, a hash, or the name of a person', async () => {
  const { rows } = await db().query<{ text: string }>(
    `select string_agg(e::text, ' ') as text from audit_entries e`,
  );
  const { text } = rows[0]!;
  const hashes = await db().query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from api_keys union select encode(hash, 'base64') from api_keys
      union select encode(hash, 'hex') from device_credentials union select encode(hash, 'hex') from agent_keys`,
  );
  secrets.push(tenant.key, tenant.relayKey);
  expect(secrets.length).toBeGreaterThan(10);
  for (const secret of secrets) expect(text).not.toContain(secret.slice(21));
  for (const { hash } of hashes.rows) expect(text).not.toContain(hash);
  expect(text).not.toMatch(/zelda|another\.erased/i);
});
