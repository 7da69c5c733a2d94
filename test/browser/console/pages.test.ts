import { gzipSync } from 'node:zlib';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { TENANT_PICTURES } from '../../../scripts/screenshots/pictures.ts';
import { createAgentKey } from '../../../src/access/agents/create-agent-key.ts';
import { makeEntrance } from '../../../src/access/logins/request-login.ts';
import { insertMember } from '../../../src/access/members/members.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { mint } from '../../control/moderation/support.ts';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { useControl } from '../../support/grpc.ts';
import { useReceiver } from '../../support/receiver.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { expectAccessibleInAllLooks, routesWithoutPath } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const controlOf = useControl(app);
const browser = useBrowser(app);
const receiver = useReceiver();

/** Texts that break a page which does not escape them, which turn writing around, and which are long. */
const HOSTILE = [
  '<script>document.title="stolen"</script>',
  '"><img src=x onerror="document.title=1">',
  "'-alert(1)-'",
  '\u202Etxet desrever\u202C',
  'zero\u200Bwidth\u2066',
  'W'.repeat(90),
];

/** The worst that a username may be. */
const HOSTILE_NAME = '"><img/src=x/onerror=alert(1)>';

let tenant: TestTenant;
let owner: TestMember;
let charged: string;
let webhook: string;
let delivery: bigint;
let device: string;
let agent: string;
let erasure: string;
/** The id of a session in a room, and the uid of the room. */
let session: string;
let roomUid: string;
/** Another tenant of the same person. */
let other: TestTenant;
/** A founder who has yet to say what may stay, and a signup whose address is not proved. */
let reviewer: TestMember;
let unproved: TestMember;
/** The path of a link that asks the owner about an invitation. */
let asking: string;

/** Webhooks, devices, keys for agents and thresholds, with the same texts. */
async function setUp(): Promise<void> {
  const { key } = tenant;
  receiver.answer('/hostile', (_received, response) => {
    response.writeHead(500).end(HOSTILE.join(' '));
    return undefined;
  });
  for (const description of HOSTILE) {
    const body = { url: receiver.url(`/hostile`), types: ['balance_low'] };
    const made = await app.request('POST', '/v1/webhooks', { key, body });
    webhook = made.json.webhook.id;
    // As of before descriptions were refused.
    await app.service.deps.db.query('update webhook_endpoints set description = $2 where id = $1', [
      webhook,
      description,
    ]);
  }
  await app.request('POST', `/v1/webhooks/${webhook}/test`, { key });
  const { rows } = await app.service.deps.db.query<{ id: bigint }>(
    'select max(id) as id from webhook_deliveries where webhook_id = $1',
    [webhook],
  );
  delivery = rows[0]!.id;
  for (const name of HOSTILE) {
    const body = {
      name,
      publish: ['audio', 'data'],
      rooms: ['door-*', 'x'.repeat(128)],
      default_room: 'door-1',
    };
    const made = await app.request('POST', '/v1/device-credentials', { key, body });
    device = made.json.device_credential.id;
  }
  await app.request('POST', `/v1/device-credentials/${device}/rotate`, { key });
  const caller = { tenant: idOf(tenant), actor: OPERATOR };
  for (const name of HOSTILE) {
    const wanted = { name, role: 'finance', writesPerDay: 100, days: 90 } as const;
    const made = await inTransaction(app.service.deps.db, (tx) => createAgentKey(tx, caller, wanted));
    agent = made.key.id;
  }
  const thresholds = [
    { kind: 'balance', below_micros: 900_000_000_000 },
    { kind: 'runway', below_hours: 8_760 },
  ];
  await app.request('PUT', '/v1/alerts', { key, body: { thresholds } });
  const budget = {
    customer: HOSTILE_NAME,
    room: 'lobby*',
    period: 'month',
    limit_micros: 5_000_000,
    hard: true,
  };
  await app.request('PUT', '/v1/budgets/monthly', { key, body: budget });
  const mail = { alerts: true, receipts: true, addresses: [`${'long'.repeat(15)}@example.com`] };
  await app.request('PUT', '/v1/mail', { key, body: mail });
}

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 12_345 });
  await app.service.deps.db.query('update tenants set name = $2 where id = $1', [idOf(tenant), HOSTILE[0]]);
  const records = HOSTILE.flatMap((text, at) =>
    ['host', 'audience'].map((role) =>
      usageRecord({
        id: `h-${at}-${role}<b>`,
        room: text,
        participant: text,
        role,
        tier: at % 2 ? 'hd' : 'audio',
        seconds: 3000 + at,
      }),
    ),
  );
  charged = String(records[0]!.id);
  const report = (body: unknown) => app.request('POST', '/v1/usage', { key: tenant.relayKey, body });
  await report({ records });
  await report({ records: records.map((record) => ({ ...record, room: HOSTILE[5], seconds: 1 })) });
  for (const name of HOSTILE) {
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name, kind: 'relay' } });
  }
  await app.request('POST', `/v1/keys/${tenant.relayKeyId}/rotate`, { key: tenant.key });
  await app.service.deps.db.query('update payment_settings set last_top_up_error = $2 where tenant_id = $1', [
    idOf(tenant),
    `The card was declined. ${HOSTILE[1]}`,
  ]);
  for (const reason of HOSTILE) {
    const given = { amount: 1_000_000n, reason, expiresAt: new Date('2100-01-01'), key: undefined };
    await grantCredit(app.service.deps.db, OPERATOR, idOf(tenant), given);
  }
  await setUp();
  owner = await makeMember(app.service.deps.db, idOf(tenant), { email: 'owner@example.com' });
  other = await app.signUp({ name: HOSTILE.slice(2).join(' ') });
  await makeMember(app.service.deps.db, idOf(other), { email: owner.email });
  await makeMember(app.service.deps.db, idOf(tenant), {
    role: 'finance',
    email: `${'long'.repeat(15)}@example.com`,
  });
  await fillRooms();
  await inviteOwner();
});

async function inviteOwner(): Promise<void> {
  const { db } = app.service.deps;
  const inviting = await app.signUp({ name: HOSTILE.join(' ').slice(0, 200) });
  const of = idOf(inviting);
  await insertMember(db, of, { email: owner.email, role: 'finance' });
  for (const name of HOSTILE) {
    await app.request('POST', '/v1/keys', { key: inviting.key, body: { name, kind: 'relay' } });
  }
  const person = { proof: 'mail', email: owner.email, tenant: of } as const;
  asking = await inTransaction(db, (tx) => makeEntrance(tx, person, '/console'));
  reviewer = await makeMember(db, of);
  await db.query('update members set must_review = true where id = $1', [reviewer.id]);
  unproved = await makeMember(db, of, { email: `${'long'.repeat(15)}@example.com`, proof: 'signup' });
}

/** Rooms, participants, bans, watchdogs and an erasure, with texts that break a page which does not escape them. */
async function fillRooms(): Promise<void> {
  const control = controlOf(tenant);
  for (const room of ['lobby', 'empty', 'r'.repeat(128)]) {
    await control.call(RoomService.method.createRoom, { room });
  }
  const post = async (path: string, fields: Record<string, string>) => {
    const answer = await sendForm(app, path, fields, owner);
    expect(answer.status, answer.text).toBe(303);
    return answer.headers.get('location')!;
  };
  for (const username of [HOSTILE_NAME, 'w'.repeat(64), 'אבג', 'ann']) await mint({ control }, username);
  const at = '/console/rooms/at/lobby';
  for (const reason of HOSTILE)
    await post(`${at}/mute`, { username: HOSTILE_NAME, audio: 'on', screen: 'on', reason });
  await post(`${at}/kick`, { username: 'ann', reason: HOSTILE[0]! });
  const ban = { time: 'day', reason: HOSTILE[1]! };
  await post('/console/rooms/bans', { ...ban, kind: 'user', subject: "<i>'mallory'</i>", room: 'lobby' });
  await post('/console/rooms/bans', { ...ban, kind: 'cidr', subject: '2001:db8::/32', room: '' });
  await post('/console/rooms/bans', { ...ban, kind: 'device', subject: 'A'.repeat(43), room: '' });
  const watchdog = { condition: 'empty_for', minutes: '90', action: 'end_room', warning: '5' };
  await post('/console/rooms/watchdogs', { ...watchdog, room: 'lobby' });
  await post('/console/rooms/watchdogs', { ...watchdog, room: 'r'.repeat(128) });
  erasure = await post('/console/people/erase', { participant: HOSTILE[2]!, confirm: 'erase' });
  // A listener opens sessions.
  await vi.waitFor(async () => {
    const { sessions } = (await app.request('GET', '/v1/sessions?participant=ann', { key: tenant.key })).json;
    ({ id: session, room_uid: roomUid } = sessions[0]);
  }, 60_000);
}

const PAGES: Readonly<Record<string, () => string>> = {
  home: () => '/',
  overview: () => '/console',
  start: () => '/console/start',
  spend: () => '/console/spend',
  'spend by tier': () => '/console/spend?by=tier',
  'spend by month': () => '/console/spend?by=tier&every=month',
  ledger: () => '/console/ledger',
  'filtered ledger': () => `/console/ledger?room=${encodeURIComponent(HOSTILE[1]!)}`,
  'empty ledger': () => '/console/ledger?kind=dispute',
  'room sessions': () => '/console/room-sessions',
  'no room sessions': () => `/console/room-sessions?participant=${encodeURIComponent(HOSTILE[1]!)}`,
  'a room session': () => `/console/room-sessions/${session}`,
  'the cost of a room': () => `/console/room-cost/${roomUid}`,
  charge: () => `/console/charge?id=${encodeURIComponent(charged)}`,
  payments: () => '/console/payments',
  conflicts: () => '/console/conflicts',
  prices: () => '/console/prices',
  'an estimate': () => '/console/prices?people=2&minutes=60&role=host&tier=hd&gib=1',
  export: () => '/console/export',
  statements: () => '/console/statements',
  'billing details': () => '/console/billing-details',
  'this month': () => `/console/statements/${new Date().toISOString().slice(0, 7)}`,
  keys: () => '/console/keys',
  key: () => `/console/keys/${tenant.keyId}`,
  revocation: () => `/console/keys/${tenant.keyId}/revoke`,
  rooms: () => '/console/rooms',
  room: () => '/console/rooms/at/lobby',
  'empty room': () => '/console/rooms/at/empty',
  participant: () => `/console/rooms/at/lobby/person?name=${encodeURIComponent(HOSTILE_NAME)}`,
  bans: () => '/console/rooms/bans',
  watchdogs: () => '/console/rooms/watchdogs',
  people: () => '/console/people',
  'one person': () => `/console/people?name=${encodeURIComponent(HOSTILE_NAME)}`,
  erasure: () => erasure,
  members: () => '/console/members',
  'removal of a member': () => `/console/members/${owner.id}/remove`,
  passkeys: () => '/console/passkeys',
  devices: () => '/console/devices',
  'device revocation': () => `/console/devices/${device}/revoke`,
  agents: () => '/console/agents',
  'agent revocation': () => `/console/agents/${agent}/revoke`,
  alerts: () => '/console/alerts',
  budgets: () => '/console/budgets',
  'budget deletion': () => '/console/budgets/monthly/delete',
  mail: () => '/console/mail',
  'top-up': () => '/console/top-up',
  webhooks: () => '/console/webhooks',
  webhook: () => `/console/webhooks/${webhook}`,
  'webhook delivery': () => `/console/webhooks/${webhook}/deliveries/whd_${delivery}`,
  'webhook dead letters': () => `/console/webhooks/${webhook}/dead-letters`,
  'webhook headers': () => `/console/webhooks/${webhook}/headers`,
  'webhook deletion': () => `/console/webhooks/${webhook}/delete`,
  audit: () => '/console/audit',
  'empty audit': () => '/console/audit?action=nothing',
  tenants: () => '/console/tenants',
  'page of another tenant': () => `/console/tenants?open=${other.id}&next=%2Fconsole%2Falerts`,
  'page of a foreign tenant': () => '/console/tenants?open=t_0123456789abcdef',
  review: () => '/console/review',
  'unproved start': () => '/console/start',
  'invitation by link': () => asking,
  'not found': () => '/console/nothing',
};

function visitorOf(name: string): TestMember {
  if (name === 'review') return reviewer;
  return name === 'unproved start' ? unproved : owner;
}

test('every page is here, or in a test of its own', () => {
  const paths = Object.values(PAGES).map((path) => path());
  expect(routesWithoutPath(TENANT_PICTURES, paths)).toEqual([
    '/console/signup',
    '/console/login',
    '/console/confirm',
    '/console/sessions',
  ]);
});

test.each(Object.entries(PAGES))('%s is accessible, fits, and runs no foreign text', async (name, path) => {
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: COOKIE, value: visitorOf(name).secret, url: PUBLIC_URL }]);
  await page.goto(`${PUBLIC_URL}${path()}`);
  await expectAccessibleInAllLooks(page, name);
  expect(await page.locator('main script, main img').count()).toBe(0);
  expect(await page.title()).toMatch(name === 'this month' ? /^Statement/ : / · Boxoffice$/);
  const ours = complaints.filter((each) => !/status of 404/.test(each));
  expect(ours).toEqual([]);
});

describe('a page', () => {
  test.each(Object.entries(PAGES))('%s weighs at most 30 kB, with what it loads', async (name, path) => {
    const answer = await getPage(app, path(), visitorOf(name).cookie);
    const assets = [...answer.text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(
      ([, found]) => found!,
    );
    const texts = await Promise.all(assets.map(async (each) => (await getPage(app, each)).text));
    const bytes = [answer.text, ...texts].reduce((sum, text) => sum + gzipSync(text).length, 0);
    expect(bytes).toBeLessThan(30_000);
  });

  test('loads nothing that changes under its name', async () => {
    const { text } = await getPage(app, '/');
    const [, path] = /href="(\/console\/assets\/style[^"]+)"/.exec(text)!;
    const answer = await getPage(app, path!);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await getPage(app, path!.replace(/\.\w+\.css/, '.0.css'))).status).toBe(404);
  });
});
