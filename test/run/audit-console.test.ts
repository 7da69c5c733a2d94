/** Actions of the audit trail that only people at a console make; audit-actions.test.ts has those of other callers. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeAll, describe, expect, test } from 'vitest';
import { endOperatorSessions, makeOperatorLink } from '../../src/access/operators/log-in-with-link.ts';
import { findAuditEntriesOfAll } from '../../src/base/audit/audit-entries.sql.ts';
import type { AuditEntry } from '../../src/base/audit/audit-entry.ts';
import { MODERATION_ACTIONS } from '../../src/control/moderation/moderation-event.ts';
import { SERVICE_ACTIONS, TENANT_ACTIONS } from '../../src/doors/consoles/audit-actions.ts';
import { mint } from '../control/moderation/support.ts';
import { makeMember, sendForm, type TestMember } from '../support/console.ts';
import { useControl } from '../support/grpc.ts';
import { makeOperator, OPERATOR_COOKIE, sendOpsForm, type TestOperator } from '../support/operators.ts';
import { type Answer, type TestTenant, useService } from '../support/service.ts';
import { idOf, OPERATOR } from '../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const db = () => app.service.deps.db;

let tenant: TestTenant;
let owner: TestMember;
let operator: TestOperator;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
  operator = await makeOperator(db());
  const control = controlOf(tenant);
  await control.call(RoomService.method.createRoom, { room: 'lobby' });
  await mint({ control }, 'ann');
});

const entries = () => findAuditEntriesOfAll(db(), { limit: 100_000 });

/** What `act` leaves in the trail, the oldest first. */
async function entriesOf(act: () => Promise<unknown>): Promise<AuditEntry[]> {
  const known = new Set((await entries()).map(({ id }) => id));
  await act();
  return (await entries()).filter(({ id }) => !known.has(id)).reverse();
}

function expectDone(answer: Answer): void {
  expect(answer.status, answer.text).toBeLessThan(400);
}

const byOwner = async (path: string, fields: Record<string, string> = {}) =>
  expectDone(await sendForm(app, path, fields, owner));
const byOperator = async (path: string, fields: Record<string, string> = {}) =>
  expectDone(await sendOpsForm(app, path, fields, operator));

interface Case {
  readonly action: string;
  /** What is changed; its id goes to `act`, and is the subject of the entry unless `subject` says otherwise. */
  readonly prepare?: () => Promise<string>;
  readonly act: (id: string) => Promise<unknown>;
  readonly subject?: unknown;
  readonly before: unknown;
  readonly after: unknown;
  /** It concerns the service, not the tenant. */
  readonly isOfService?: true;
}

async function newWatchdog(condition: string): Promise<string> {
  const fields = { room: 'lobby', condition, minutes: '90', action: 'end_room', warning: '' };
  await byOwner('/console/rooms/watchdogs', fields);
  const { rows } = await db().query<{ id: string }>(
    'select id from watchdogs order by created_at desc limit 1',
  );
  return rows[0]!.id;
}

const ROOM_UID = expect.stringMatching(/^rm_/);

const BY_MEMBER: readonly Case[] = [
  {
    action: 'member_invited',
    act: () => byOwner('/console/members', { email: 'new@example.com', role: 'viewer' }),
    subject: expect.stringMatching(/^m_/),
    before: null,
    after: { role: 'viewer' },
  },
  {
    action: 'member_role_changed',
    prepare: async () => (await makeMember(db(), idOf(tenant), { role: 'viewer' })).id,
    act: (id) => byOwner(`/console/members/${id}/role`, { role: 'finance' }),
    before: { role: 'viewer' },
    after: { role: 'finance' },
  },
  {
    action: 'member_removed',
    prepare: async () => (await makeMember(db(), idOf(tenant), { role: 'finance' })).id,
    act: (id) => byOwner(`/console/members/${id}/remove`),
    before: { role: 'finance' },
    after: null,
  },
  {
    action: 'moderated',
    act: () => byOwner('/console/rooms/at/lobby/mute', { username: 'ann', audio: 'on', reason: '' }),
    subject: expect.stringMatching(/^\d+$/),
    before: null,
    after: { action: 'force_mute', room_uid: ROOM_UID },
  },
  {
    action: 'watchdog_created',
    act: () => newWatchdog('empty_for'),
    subject: expect.stringMatching(/^wd_/),
    before: null,
    after: expect.objectContaining({ room_uid: ROOM_UID, condition: 'empty_for' }),
  },
  {
    action: 'watchdog_deleted',
    prepare: () => newWatchdog('host_absent_for'),
    act: (id) => byOwner(`/console/rooms/watchdogs/${id}/delete`),
    before: expect.objectContaining({ room_uid: ROOM_UID, condition: 'host_absent_for' }),
    after: null,
  },
];

const BY_OPERATOR: readonly Case[] = [
  {
    action: 'verification_started',
    act: () => byOperator('/console/verify'),
    subject: expect.stringMatching(/^vf_/),
    before: null,
    after: null,
    isOfService: true,
  },
  {
    action: 'console_link_made',
    act: () => byOperator(`/console/tenants/${tenant.id}/console-link`),
    subject: expect.stringMatching(/^t_/),
    before: null,
    after: null,
  },
  {
    action: 'parked_payment_dismissed',
    prepare: async () => {
      await db().query(
        `insert into provider_events (id, type, outcome, reason, tenant_id, payment_id)
         values ('evt_1', 'payment_intent.succeeded', 'parked', 'test', $1, 'pi_1')`,
        [idOf(tenant)],
      );
      return 'pi_1';
    },
    act: () => byOperator('/console/payments/evt_1/dismiss', { reason: 'refunded' }),
    before: { state: 'parked' },
    after: { state: 'ignored' },
  },
];

describe('a change by a member', () => {
  test.each(BY_MEMBER)('$action', async (each) => {
    const [id, made] = await doIt(each);
    expect(made).toEqual([
      entryOf(each, id, { actorKind: 'member', actorId: owner.id, address: '127.0.0.1' }),
    ]);
  });
});

describe('a change by an operator at the console', () => {
  test.each(BY_OPERATOR)('$action', async (each) => {
    const [id, made] = await doIt(each);
    const by = { actorKind: 'operator', actorId: operator.name, address: null };
    expect(made).toEqual([entryOf(each, id, by)]);
  });

  test('operator_link_made, and operator_sessions_ended', async () => {
    const by = { tenant: null, actorKind: 'operator', actorId: OPERATOR.id, address: null };
    const link = await entriesOf(() => makeOperatorLink(db(), OPERATOR, 'http://ops.test'));
    expect(link).toMatchObject([
      { ...by, action: 'operator_link_made', subject: OPERATOR.id, before: null, after: null },
    ]);
    const ended = await entriesOf(() => endOperatorSessions(db(), OPERATOR));
    expect(ended).toMatchObject([{ ...by, action: 'operator_sessions_ended', subject: null, after: null }]);
    const answer = await sendOpsForm(
      app,
      '/console/verify',
      {},
      { cookie: `${OPERATOR_COOKIE}=${operator.secret}` },
    );
    expect(answer.headers.get('location')).toMatch(/login/);
  });
});

async function doIt({ prepare, act }: Case): Promise<[string, AuditEntry[]]> {
  const id = (await prepare?.()) ?? '';
  return [id, await entriesOf(() => act(id))];
}

function entryOf({ action, subject, before, after, isOfService }: Case, id: string, by: object) {
  return {
    id: expect.stringMatching(/^au_/),
    tenant: isOfService ? null : idOf(tenant),
    at: expect.any(Date),
    ...by,
    action,
    subject: subject === undefined ? id : subject,
    before,
    after,
  };
}

describe('docs/audit.md', () => {
  const ROOT = new URL('../../', import.meta.url);
  const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
  const table = /\| `action` [\s\S]*?\n\n/.exec(read('docs/audit.md'))![0];
  const documented = [...table.matchAll(/^\|([^|]*)\|/gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].map(([, name]) => name!))
    .filter((name) => name !== 'action')
    .sort();

  test('names the actions that the code has', async () => {
    const found = new Set<string>();
    for await (const path of glob('src/**/*.ts', { cwd: ROOT.pathname })) {
      const text = read(path);
      if (!/audit/i.test(text)) continue;
      for (const [, names] of text.matchAll(/\baction: ((?:'[a-z_]+'(?: \| )?)+)/g)) {
        for (const [, name] of names!.matchAll(/'([a-z_]+)'/g)) found.add(name!);
      }
      const [, states] = /change: ((?:'[a-z]+'(?: \| )?)+)/.exec(text) ?? [];
      if (/`signing_key_\$\{/.test(text))
        for (const [, name] of (states ?? '').matchAll(/'([a-z]+)'/g)) found.add(`signing_key_${name}`);
    }
    const own = [...found].filter((name) => !(MODERATION_ACTIONS as readonly string[]).includes(name));
    expect(own.sort()).toEqual(documented);
  });

  test('names the actions that the consoles offer', () => {
    expect([...TENANT_ACTIONS, ...SERVICE_ACTIONS].sort()).toEqual(documented);
  });

  test('has no action that no test makes', () => {
    const files = [
      'run/audit-actions',
      'run/audit-console',
      'run/admin/secrets',
      'doors/console/invitations',
      'doors/console/passkeys',
      'doors/console/sessions',
      'doors/console/settings',
      'doors/ops/console/sessions',
      'doors/ops/console/oidc',
      'doors/ops/console/reads',
    ];
    const tests = files.map((file) => read(`test/${file}.test.ts`)).join('');
    expect(documented.filter((name) => !tests.includes(name))).toEqual([]);
  });
});
