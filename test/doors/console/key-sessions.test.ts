/** A session by key does what the key may do over REST and gRPC, within its ceiling, and nothing else. */
import { randomUUID } from 'node:crypto';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { ABILITIES } from '../../../src/access/rights/abilities.ts';
import { DEFAULT_CEILING } from '../../../src/access/rights/key-ceiling.ts';
import type { ConsoleRoute, GuardedRoute } from '../../../src/doors/console/route.ts';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { getPage, logInByKey, makeMember, sendForm } from '../../support/console.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf, makeKey, OPERATOR } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const db = () => app.service.deps.db;

const LOW = { ...DEFAULT_CEILING, rooms: ['lobby'], rank: 1 };

const GUARDED = ROUTES.filter((route): route is GuardedRoute => route.needs !== 'nothing');
const nameOf = ({ method, path }: ConsoleRoute) => `${method} ${path}`;
const mayKey = ({ needs }: GuardedRoute) =>
  needs === 'session' || (ABILITIES[needs] as readonly string[]).includes('key');

/** What the same key may do elsewhere, for each form that its session may send. */
const SAME_ELSEWHERE: Readonly<Record<string, string>> = {
  '/console/start/keys': 'post /v1/keys',
  '/console/keys': 'post /v1/keys',
  '/console/keys/:id/rotate': 'post /v1/keys/{id}/rotate',
  '/console/keys/:id/revoke': 'delete /v1/keys/{id}',
  '/console/devices': 'post /v1/device-credentials',
  '/console/devices/:id/rotate': 'post /v1/device-credentials/{id}/rotate',
  '/console/devices/:id/revoke': 'delete /v1/device-credentials/{id}',
  '/console/checkout': 'post /v1/billing/checkout',
  '/console/payments/portal': 'post /v1/billing/portal',
  '/console/top-up': 'put /v1/billing/auto-top-up',
  // A threshold above the balance does the same with the next usage.
  '/console/top-up/now': 'put /v1/billing/auto-top-up',
  '/console/budgets': 'put /v1/budgets/{id}',
  '/console/budgets/:id/delete': 'delete /v1/budgets/{id}',
  '/console/alerts': 'put /v1/alerts',
  '/console/alerts/remove': 'put /v1/alerts',
  '/console/mail': 'put /v1/mail',
  '/console/billing-details': 'put /v1/billing/details',
  '/console/time-zone': 'put /v1/billing/time-zone',
  '/console/people/erase': 'post /v1/participants/erase',
  '/console/webhooks': 'post /v1/webhooks',
  '/console/webhooks/:id': 'patch /v1/webhooks/{id}',
  '/console/webhooks/:id/headers': 'patch /v1/webhooks/{id}',
  '/console/webhooks/:id/pause': 'patch /v1/webhooks/{id}',
  '/console/webhooks/:id/resume': 'patch /v1/webhooks/{id}',
  '/console/webhooks/:id/rotate': 'post /v1/webhooks/{id}/rotate',
  '/console/webhooks/:id/delete': 'delete /v1/webhooks/{id}',
  '/console/webhooks/:id/test': 'post /v1/webhooks/{id}/test',
  '/console/webhooks/:id/resend': 'post /v1/webhooks/{id}/resend',
  '/console/webhooks/:id/resend-since': 'post /v1/webhooks/{id}/resend',
  '/console/webhooks/:id/dead-letters': 'post /v1/webhooks/{id}/resend',
  '/console/rooms/at/:room/end': 'CloseRoom',
  '/console/rooms/at/:room/kick': 'KickParticipant',
  '/console/rooms/at/:room/mute': 'ForceMute',
  '/console/rooms/at/:room/unmute': 'ReleaseMute',
  '/console/rooms/at/:room/ban': 'BanSubject',
  '/console/rooms/at/:room/unban': 'UnbanSubject',
  '/console/rooms/bans': 'BanSubject',
  '/console/rooms/bans/lift': 'UnbanSubject',
  '/console/rooms/watchdogs': 'CreateWatchdog',
  '/console/rooms/watchdogs/:id/delete': 'DeleteWatchdog',
};

/** Forms of a person. A session by key has none, so they do nothing for it. */
const OF_A_PERSON = [
  '/console/confirm',
  '/console/confirm/oidc',
  '/console/passkeys',
  '/console/passkeys/:id/remove',
  '/console/passkeys/confirm',
  '/console/passkeys/confirm/options',
  '/console/passkeys/options',
  '/console/review',
  '/console/tenants',
  '/console/tenants/invitations',
];

/** They end sessions of the same key. */
const OF_ITS_SESSIONS = ['/console/sessions/end', '/console/sessions/end-others'];

/** Everything of the tenant that a form could change; without when watchdogs are looked at, which happens by itself. */
async function state(stage: Stage): Promise<unknown> {
  const { rows } = await db().query(
    `select (select json_agg(k order by id) from api_keys k where tenant_id = $1) as keys,
            (select json_agg(d order by id) from device_credentials d where tenant_id = $1) as devices,
            (select json_agg(a order by id) from agent_keys a where tenant_id = $1) as agents,
            (select json_agg(m order by id) from members m where tenant_id = $1) as members,
            (select json_agg(b order by id) from bans b where tenant_id = $1) as bans,
            (select json_agg(r order by uid) from rooms r where tenant_id = $1) as rooms,
            (select json_agg(to_jsonb(w) - '{check_at,looked_at}'::text[] order by id) from watchdogs w where tenant_id = $1) as watchdogs,
            (select count(*) from moderation_events where tenant_id = $1) as acts,
            (select count(*) from audit_entries where tenant_id = $1) as audit,
            (select count(*) from passkey_challenges) as challenges, (select count(*) from mails) as mails`,
    [idOf(stage.tenant)],
  );
  return rows[0];
}

interface Scene extends Stage {
  /** The session of the limited key. */
  readonly lowKey: string;
  readonly lowCookie: string;
  readonly credential: string;
  readonly watchdog: string;
  readonly member: string;
}

/** A tenant with a key of a low ceiling, and with what is beyond it: a room `stage`, and a host in the lobby. */
async function newScene(): Promise<Scene> {
  const stage = await newStage(app, controlOf);
  const { control, tenant } = stage;
  await control.call(RoomService.method.createRoom, { room: 'stage' });
  await mint(stage, 'ann', { role: 'host', rank: 80 });
  await mint(stage, 'bob', { room: 'stage', rank: 0 });
  await control.call(ModerationService.method.banSubject, { subject: { case: 'username', value: 'eve' } });
  const { watchdog } = await control.call(WatchdogService.method.createWatchdog, {
    watchdog: {
      room: 'stage',
      action: 4,
      condition: { case: 'maxDuration', value: { seconds: 3600n, nanos: 0 } },
    },
  });
  const made = await app.request('POST', '/v1/device-credentials', {
    key: tenant.key,
    body: { name: 'tv', publish: ['audio'] },
  });
  expect(made.status).toBe(201);
  const { id: member } = await makeMember(db(), idOf(tenant), { role: 'viewer' });
  const { plaintext: lowKey } = await makeKey(db(), idOf(tenant), 'backend', LOW);
  const lowCookie = await logInByKey(app, lowKey);
  const credential = made.json.device_credential.id;
  return { ...stage, lowKey, lowCookie, credential, watchdog: watchdog!.id, member };
}

let scene: Scene;
beforeAll(async () => {
  scene = await newScene();
});

describe('each form of the console', () => {
  const forms = GUARDED.filter(({ method }) => method === 'POST');

  test('is what a key may do elsewhere, or refused to its session, or of a person', async () => {
    const { json } = await app.request('GET', '/openapi.json');
    const rest = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const services = [ModerationService, WatchdogService];
    const known = [...rest, ...services.flatMap(({ methods }) => methods.map(({ name }) => name))];
    const open = forms.filter(mayKey).map(({ path }) => path);
    const decided = [...Object.keys(SAME_ELSEWHERE), ...OF_A_PERSON, ...OF_ITS_SESSIONS];
    expect(open.toSorted()).toEqual(decided.toSorted());
    expect(Object.values(SAME_ELSEWHERE).filter((each) => !known.includes(each))).toEqual([]);
  });

  /** Beyond the ceiling: the path of the form, and what it asks for. */
  const BEYOND: Readonly<
    Record<string, (of: Scene) => { readonly path: string; readonly fields?: Record<string, string> }>
  > = {
    '/console/keys/:id/rotate': ({ tenant }) => ({
      path: `/console/keys/${tenant.keyId}/rotate`,
      fields: { form: randomUUID(), overlap: '0' },
    }),
    '/console/keys/:id/revoke': ({ tenant }) => ({
      path: `/console/keys/${tenant.relayKeyId}/revoke`,
      fields: { confirm: 'stop-service' },
    }),
    '/console/devices': () => ({
      path: '/console/devices',
      fields: { form: randomUUID(), name: 'tv', rooms: 'stage', publish_audio: 'on' },
    }),
    '/console/devices/:id/rotate': ({ credential }) => ({
      path: `/console/devices/${credential}/rotate`,
      fields: { form: randomUUID(), overlap: '0' },
    }),
    '/console/devices/:id/revoke': ({ credential }) => ({ path: `/console/devices/${credential}/revoke` }),
    '/console/rooms/at/:room/end': () => ({
      path: '/console/rooms/at/stage/end',
      fields: { confirm: 'end' },
    }),
    '/console/rooms/at/:room/kick': () => ({
      path: '/console/rooms/at/stage/kick',
      fields: { username: 'bob' },
    }),
    '/console/rooms/at/:room/mute': () => ({
      path: '/console/rooms/at/lobby/mute',
      fields: { username: 'ann', audio: 'on' },
    }),
    '/console/rooms/at/:room/unmute': () => ({
      path: '/console/rooms/at/lobby/unmute',
      fields: { username: 'ann', audio: 'on' },
    }),
    '/console/rooms/at/:room/ban': () => ({
      path: '/console/rooms/at/lobby/ban',
      fields: { username: 'ann', scope: 'room', time: 'day' },
    }),
    '/console/rooms/at/:room/unban': () => ({
      path: '/console/rooms/at/lobby/unban',
      fields: { username: 'eve', scope: 'everywhere' },
    }),
    '/console/rooms/bans': () => ({
      path: '/console/rooms/bans',
      fields: { kind: 'cidr', subject: '203.0.113.0/24', room: '', time: 'day' },
    }),
    '/console/rooms/bans/lift': () => ({
      path: '/console/rooms/bans/lift',
      fields: { kind: 'user', subject: 'eve', room: '' },
    }),
    '/console/rooms/watchdogs': () => ({
      path: '/console/rooms/watchdogs',
      fields: { room: 'stage', condition: 'empty_for', minutes: '5', action: 'end_room', warning: '' },
    }),
    '/console/rooms/watchdogs/:id/delete': ({ watchdog }) => ({
      path: `/console/rooms/watchdogs/${watchdog}/delete`,
    }),
  };
  /** What they create has the ceiling of the key. */
  const INHERIT = ['/console/start/keys', '/console/keys'];

  test('that a ceiling limits has a case', () => {
    const limited = forms.filter(({ needs }) => needs === 'change_keys' || needs === 'moderate');
    const paths = limited.map(({ path }) => path).toSorted();
    expect(paths).toEqual([...Object.keys(BEYOND), ...INHERIT].toSorted());
  });

  test.each(Object.keys(BEYOND))('%s is refused beyond the ceiling, and changes nothing', async (route) => {
    const { path, fields = {} } = BEYOND[route]!(scene);
    const before = await state(scene);
    const answer = await sendForm(app, path, fields, { cookie: scene.lowCookie });
    expect([answer.status, await state(scene)]).toEqual([403, before]);
  });

  test.each(Object.keys(BEYOND))('%s is done with the default ceiling', async (route) => {
    const other = await newScene();
    const { path, fields = {} } = BEYOND[route]!(other);
    const cookie = await logInByKey(app, other.tenant.key);
    const showsSecret = path.endsWith('/devices') || path.endsWith('/rotate');
    expect((await sendForm(app, path, fields, { cookie })).status).toBe(showsSecret ? 200 : 303);
  });

  test.each(INHERIT)('%s creates keys with the ceiling of the key', async (path) => {
    const other = await newScene();
    const before = new Set(await keysOf(other));
    const fields = path.endsWith('start/keys') ? {} : { name: 'new', kind: 'backend' };
    const answer = await sendForm(app, path, { form: randomUUID(), ...fields }, { cookie: other.lowCookie });
    expect(answer.status).toBe(200);
    const made = (await keysOf(other)).filter((id) => !before.has(id));
    expect(made.length).toBeGreaterThan(0);
    for (const id of made) expect((await app.service.deps.keyLookups.find(id))?.ceiling).toEqual(LOW);
  });
});

async function keysOf({ tenant }: Scene): Promise<string[]> {
  const { rows } = await db().query('select id from api_keys where tenant_id = $1', [idOf(tenant)]);
  return rows.map(({ id }) => id);
}

describe('members, keys for agents and the export', () => {
  const refused = GUARDED.filter((route) => !mayKey(route)).map((route) => [nameOf(route), route] as const);

  test('are what no key may do', () => {
    expect(refused.map(([name]) => name).toSorted()).toEqual([
      'GET /console/agents',
      'GET /console/agents/:id/revoke',
      'GET /console/export',
      'GET /console/members',
      'GET /console/members/:id/remove',
      'POST /console/agents',
      'POST /console/agents/:id/revoke',
      'POST /console/export',
      'POST /console/members',
      'POST /console/members/:id/invite',
      'POST /console/members/:id/remove',
      'POST /console/members/:id/role',
      'POST /console/sessions/of-members/end',
    ]);
  });

  test.each(refused)('%s is refused to each session by key', async (_name, { method, path: pattern }) => {
    const path = pattern.replace(':id', scene.member);
    for (const cookie of [scene.lowCookie, await logInByKey(app, scene.tenant.key)]) {
      const before = await state(scene);
      const fields: Record<string, string> = pattern.endsWith('/members')
        ? { email: 'thief@example.com', role: 'owner' }
        : pattern.endsWith('/role')
          ? { role: 'owner' }
          : {};
      const answer =
        method === 'GET' ? await getPage(app, path, cookie) : await sendForm(app, path, fields, { cookie });
      expect([answer.status, await state(scene)]).toEqual([403, before]);
    }
  });

  test('are not shown to it: the audit trail has ids', async () => {
    const { id, email, cookie } = await makeMember(db(), idOf(scene.tenant));
    await sendForm(app, '/console/keys', { form: randomUUID(), name: 'hers', kind: 'relay' }, { cookie });
    const [hers, byKey] = await Promise.all(
      [cookie, scene.lowCookie].map(async (each) => (await getPage(app, '/console/audit', each)).text),
    );
    expect([hers!.includes(email), byKey!.includes(email), byKey!.includes(id)]).toEqual([true, false, true]);
    expect(byKey).not.toContain('href="/console/members"');
  });
});

describe('the forms of a person', () => {
  test.each(OF_A_PERSON)('%s changes nothing for a session by key', async (pattern) => {
    const before = await state(scene);
    const route = GUARDED.find(({ method, path }) => method === 'POST' && path === pattern)!;
    const fields = Object.fromEntries((route.fields ?? []).map((name) => [name, 'x']));
    const path = pattern.replace(':id', '0123456789abcdef');
    expect((await sendForm(app, path, fields, { cookie: scene.lowCookie })).status).toBeLessThan(500);
    expect(await state(scene)).toEqual(before);
  });
});

describe('a session by key', () => {
  test('moderates within its ceiling', async () => {
    await mint(scene, 'carl', { rank: 0 });
    const kick = (username: string) =>
      sendForm(app, '/console/rooms/at/lobby/kick', { username }, { cookie: scene.lowCookie });
    expect((await kick('carl')).status).toBe(303);
    const refused = await kick('ann');
    expect([refused.status, refused.text.includes('no standing')]).toEqual([403, true]);
  });

  test('is limited from the moment in which an operator lowers the key', async () => {
    const other = await newScene();
    const cookie = await logInByKey(app, other.tenant.key);
    await mint(other, 'carl', { room: 'stage' });
    const kick = () => sendForm(app, '/console/rooms/at/stage/kick', { username: 'carl' }, { cookie });
    expect((await kick()).status).toBe(303);
    await changeCeiling(db(), OPERATOR, other.tenant.keyId, { capabilities: ['chat.send'] });
    const refused = await kick();
    expect([refused.status, refused.text.includes('moderate.kick')]).toEqual([403, true]);
  });
});

test('a person and an operator act for the tenant, whatever ranks participants have', async () => {
  const other = await newScene();
  const { cookie } = await makeMember(db(), idOf(other.tenant));
  const kicked = await sendForm(app, '/console/rooms/at/lobby/kick', { username: 'ann' }, { cookie });
  expect(kicked.status).toBe(303);
});
