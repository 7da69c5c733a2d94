/** Lakeside Theatre: a tenant as an owner knows it after a month, made through the interfaces that tenants have. */
import { createHash } from 'node:crypto';
import { Boxoffice, type Session } from '../../sdk/typescript/src/backend/index.ts';
import { parseTenantId, type TenantId } from '../../src/base/tenants/tenant.ts';
import { startHook } from './hook.ts';
import { type Dated, dateBack, dateUses, newestPosting } from './past.ts';
import { Person, until } from './person.ts';
import type { Stage } from './pictures.ts';
import { type OwnService, PUBLIC_URL } from './service.ts';
import { type Show, showsOf } from './shows.ts';

const OWNER = 'olivia@lakeside.example.com';
const FOUNDER = 'chris@quayside.example.com';
const DAYS = 34;
const DAY_MS = 86_400_000;

export interface Lakeside {
  readonly owner: Person;
  /** The founder of another tenant, who has yet to say what may stay. */
  readonly founder: Person;
  readonly id: string;
  readonly client: Boxoffice;
  readonly relay: Boxoffice;
  /** A payment of the tenant. */
  readonly payment: string;
  readonly stage: Omit<Stage, 'operatorLink' | 'parked'>;
}

export async function makeLakeside(own: OwnService, say: (text: string) => void): Promise<Lakeside> {
  const owner = new Person(own.url, PUBLIC_URL);
  say('Lakeside Theatre signs up and pays');
  const education = await signUp(own, 'Lakeside Education', OWNER);
  await signUp(own, 'Riverside Radio', OWNER);
  await owner.send('/console/signup', { name: 'Lakeside Theatre', email: OWNER });
  const payment = await pay(own, owner, '150');
  const [apiKey, relayKey] = await createFirstKeys(owner);
  const clients = { url: own.url, controlUrl: own.controlUrl };
  const client = new Boxoffice({ ...clients, apiKey });
  const relay = new Boxoffice({ ...clients, apiKey: relayKey });
  const { tenant } = await client.billing.get();

  say(`Relays report ${DAYS} days of shows, and a card tops the credit up`);
  const dated = await playShows(own, parseTenantId(tenant.id)!, client, relay);
  await dateBack(own.owner, parseTenantId(tenant.id)!, new Date(dated[0]!.at.getTime() - 600_000), dated);

  say('Members, keys, devices, agents, thresholds, budgets, mail and webhooks');
  await join(own, owner, OWNER, education);
  await keepAll(owner);
  await owner.send('/console/tenants/invitations', { tenant: tenant.id, answer: 'join' });
  await keepAll(owner);
  const founder = new Person(own.url, PUBLIC_URL);
  await join(own, founder, FOUNDER, await signUp(own, 'Quayside Choir', FOUNDER));
  await inviteMembers(own, owner, tenant.id);
  const [, member] = /\/members\/(\w+)\/remove"[^>]*>Remove<span class="hidden"> usher@/.exec(
    await owner.read('/console/members'),
  )!;
  const agent = await createAgents(owner);
  const made = await setUp(client);
  const [, key] = /^svc_([0-9a-f]{16})_/.exec(relayKey)!;
  await dateUses(own.owner, parseTenantId(tenant.id)!, key!);
  say('Rooms with people in them, bans and watchdogs');
  await openRooms(client);
  await useRooms(relay);
  await moderate(owner);
  const { id: session, roomUid } = await findSession(client);
  const erasure = await owner.send('/console/people/erase', {
    participant: 'former.guest',
    confirm: 'erase',
  });
  return {
    owner,
    founder,
    id: tenant.id,
    client,
    relay,
    payment,
    stage: {
      ...made,
      agent,
      key: key!,
      link: await linkOf(own, OWNER),
      tenant: tenant.id,
      record: LAST_RECORD,
      month: monthBefore(new Date()),
      member: member!,
      erasure,
      session,
      roomUid,
    },
  };
}

async function pay({ sandbox }: OwnService, owner: Person, dollars: string): Promise<string> {
  const page = await owner.send('/console/checkout', { dollars });
  const [session] = /cs_test_\w+/.exec(page)!;
  const { id } = sandbox.control.pay(session, { card: '4242424242424242', email: OWNER });
  await sandbox.control.idle();
  return id;
}

/** The pages show keys once, so they are read where the owner would read them. */
async function createFirstKeys(owner: Person): Promise<[string, string]> {
  const [, form] = /name="form" value="([^"]+)"/.exec(await owner.read('/console/start'))!;
  const page = await owner.send('/console/start/keys', { form: form! });
  const [first, second] = new Set(page.match(/svc_[0-9a-f]{16}_[\w-]+/g));
  return [first!, second!];
}

/** Returns all postings with the time at which they would have been made. */
async function playShows(
  { owner }: OwnService,
  tenant: TenantId,
  client: Boxoffice,
  relay: Boxoffice,
): Promise<Dated[]> {
  const start = Date.now() - DAYS * DAY_MS;
  const dated: Dated[] = [];
  let seq = 0n;
  const date = async (at: Date) => {
    for (const newest = await newestPosting(owner, tenant); seq < newest; ) {
      seq += 1n;
      dated.push({ seq, at });
    }
  };
  await date(new Date(start));
  await client.billing.setAutoTopUp({ enabled: true, belowCents: 4_000, amountCents: 10_000 });
  for (const show of showsOf(new Date(start), new Date())) {
    await report(relay, show);
    await date(show.endedAt);
    await until('the automatic top-up', async () => {
      const { balance } = await client.billing.get();
      return Number(balance.micros) >= 40_000_000 ? true : undefined;
    });
    await date(new Date(show.endedAt.getTime() + 4_000));
  }
  return dated;
}

/** The newest record of usage has this id. */
const LAST_RECORD = 'relay-1.matinee.last';

async function report(relay: Boxoffice, { room, name, isLast, people }: Show): Promise<void> {
  await relay.usage.report(
    people.map((person, at) => ({
      id: isLast && at === 0 ? LAST_RECORD : `relay-1.${name}.${at}`,
      room,
      ingressBytes: 1_000_000,
      ...person,
    })),
  );
}

/** Over REST, as a back end does. Returns the id of the tenant. */
async function signUp(own: OwnService, name: string, email: string): Promise<string> {
  const answer = await fetch(`${own.url}/v1/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, email }),
  });
  return ((await answer.json()) as { tenant: string }).tenant;
}

/** Log in by mail, and say yes to the invitation of a tenant. */
async function join(own: OwnService, person: Person, email: string, tenant: string): Promise<void> {
  await person.send('/console/login', { email });
  await person.send(await own.linkTo(email), { tenant, answer: 'join' });
}

/** A founder keeps everything that existed before. */
async function keepAll(founder: Person): Promise<void> {
  for (;;) {
    const page = await founder.read('/console/review');
    const [, kind, id] =
      /name="kind" value="(\w+)">\s*<input type="hidden" name="id" value="([^"]+)"/.exec(page) ?? [];
    if (kind !== undefined) await founder.send('/console/review', { kind, id: id!, answer: 'keep' });
    else if (page.includes('value="top_up"'))
      await founder.send('/console/review', { kind: 'top_up', answer: 'keep' });
    else return;
  }
}

/** A link that is never used up. */
async function linkOf(own: OwnService, email: string): Promise<string> {
  await new Person(own.url, PUBLIC_URL).send('/console/login', { email });
  return own.linkTo(email);
}

async function inviteMembers(own: OwnService, owner: Person, tenant: string): Promise<void> {
  const members = [
    ['frank@lakeside.example.com', 'finance'],
    ['mona@lakeside.example.com', 'moderator'],
    ['usher@lakeside.example.com', 'moderator'],
    ['auditor@example.com', 'viewer'],
  ] as const;
  for (const [email, role] of members) await owner.send('/console/members', { email, role });
  for (const [email] of members.slice(0, 2)) await join(own, new Person(own.url, PUBLIC_URL), email, tenant);
}

/** Keys, device credentials, thresholds, budgets, mail and webhooks. */
async function setUp(client: Boxoffice): Promise<Pick<Stage, 'device' | 'webhook' | 'delivery'>> {
  await client.keys.create({ name: 'Relay in the foyer', kind: 'relay' });
  const { key: old } = await client.keys.create({ name: 'Relay on tour', kind: 'relay' });
  await client.keys.rotate({ id: old.id, overlapSeconds: 86_400 });
  const { key: lost } = await client.keys.create({ name: 'Laptop of a guest', kind: 'backend' });
  await client.keys.revoke({ id: lost.id });

  const device = await createDevices(client);
  await client.alerts.set([
    { kind: 'balance', belowMicros: 30_000_000n },
    { kind: 'balance', belowMicros: 500_000_000n },
    { kind: 'runway', belowHours: 24 },
  ]);
  const monthly = { period: 'month' as const, alertPercents: [50, 80, 100] };
  await client.budgets.set({ ...monthly, id: 'tour', room: 'tour-*', limitMicros: 40_000_000n, hard: true });
  await client.budgets.set({ ...monthly, id: 'everything', limitMicros: 900_000_000n, hard: false });
  const addresses = ['accounts@lakeside.example.com', 'stage.door@lakeside.example.com'];
  await client.mail.set({ alerts: true, receipts: true, addresses });
  return { device, ...(await createWebhooks(client)) };
}

async function createDevices(client: Boxoffice): Promise<string> {
  const create = (name: string, publish: ('audio' | 'video' | 'screen')[], rooms: string[], more = {}) =>
    client.deviceCredentials.create({ name, publish, rooms, ...more });
  await create('Camera, main stage', ['audio', 'video'], ['main-stage'], { defaultRoom: 'main-stage' });
  const { deviceCredential } = await create('Kiosk in the foyer', ['audio'], ['foyer', 'tour-*']);
  const old = await create('Projector', ['screen', 'video'], ['rehearsal-*']);
  await client.deviceCredentials.rotate({ id: old.deviceCredential.id });
  return deviceCredential.id;
}

/** Returns the id of one that works. */
async function createAgents(owner: Person): Promise<string> {
  const path = '/console/agents';
  const create = async (fields: Record<string, string>) => {
    const [, form] = /name="form" value="([^"]+)"/.exec(await owner.read(path))!;
    const [, id] = /agent_([0-9a-f]{16})_/.exec(await owner.send(path, { form: form!, ...fields }))!;
    return id!;
  };
  const trial = await create({ name: 'Trial of an assistant', role: 'viewer', writes: '0', days: '7' });
  await owner.send(`${path}/${trial}/revoke`, {});
  await create({ name: 'Report of the month', role: 'viewer', writes: '0', days: '90' });
  return create({ name: 'Assistant of the accounts', role: 'finance', writes: '5', days: '30' });
}

async function createWebhooks(client: Boxoffice): Promise<Pick<Stage, 'webhook' | 'delivery'>> {
  const hook = await startHook();
  const { webhook } = await client.webhooks.create({
    url: hook.url('/boxoffice'),
    description: 'Box office bot',
    types: ['balance_low', 'balance_recovered', 'top_up_succeeded', 'room_ended'],
  });
  const accounts = {
    url: hook.url('/accounts'),
    description: 'Accounts',
    types: ['top_up_succeeded' as const],
  };
  const { webhook: failing } = await client.webhooks.create(accounts);
  for (const name of ['warm-up', 'sound-check', 'seating']) {
    await client.rooms.create({ room: name });
    await client.rooms.end({ room: name });
  }
  await client.webhooks.test(webhook.id);
  await client.webhooks.test(failing.id);
  await client.webhooks.change({ id: failing.id, paused: true });
  await until('deliveries', async () => {
    const listed = await client.webhooks.get(webhook.id);
    return hook.count('/boxoffice') >= 4 ? listed : undefined;
  });
  hook.close();
  for await (const { id, kind } of client.webhooks.deliveries(webhook.id)) {
    if (kind === 'event') return { webhook: webhook.id, delivery: String(id) };
  }
  throw new Error('no event was delivered');
}

const PEOPLE: Readonly<Record<string, readonly string[]>> = {
  'main-stage': ['prospero', 'miranda', 'ariel', 'rosalind', 'orlando', 'celia', 'touchstone', 'heckler'],
  foyer: ['viola', 'olivia', 'feste'],
  'rehearsal-1': ['beatrice', 'benedick', 'hero', 'claudio', 'dogberry'],
};

async function openRooms({ rooms, tokens, watchdogs }: Boxoffice): Promise<void> {
  await rooms.create({ room: 'main-stage', policy: { mode: 'broadcast', maxParticipants: 500 } });
  for (const room of ['foyer', 'rehearsal-1', 'green-room']) await rooms.create({ room });
  for (const [room, people] of Object.entries(PEOPLE)) {
    for (const [at, username] of people.entries()) {
      const deviceThumbprint = createHash('sha256').update(username).digest('base64url');
      await tokens.mint({
        room,
        username,
        deviceThumbprint,
        role: at < 2 ? 'host' : 'audience',
        lifetimeSeconds: 900,
      });
    }
  }
  await watchdogs.create({
    room: 'green-room',
    emptyForSeconds: 3_600,
    action: 'end_room',
    warnBeforeSeconds: 300,
  });
  await watchdogs.create({ room: 'main-stage', maxDurationSeconds: 14_400, action: 'end_room' });
  await watchdogs.create({ room: 'rehearsal-1', hostAbsentForSeconds: 900, action: 'notify' });
}

/** A few minutes of everybody in the rooms, and a recorder that has no token. */
async function useRooms({ usage }: Boxoffice): Promise<void> {
  const crowd = Object.entries(PEOPLE).flatMap(([room, people]) =>
    people.map((participant, at) => ({
      room,
      participant,
      role: at < 2 ? ('host' as const) : ('audience' as const),
    })),
  );
  const all = [...crowd, { room: 'main-stage', participant: 'recorder', role: 'audience' as const }];
  for (const [part, tier] of (['hd', 'full_hd', 'full_hd'] as const).entries()) {
    await usage.report(
      all.map((each, at) => ({
        ...each,
        id: `relay-1.now.${at}.${part}`,
        tier,
        seconds: 300,
        egressBytes: 31_000_000 + at * 977_000,
        ingressBytes: 4_000_000,
      })),
    );
  }
}

/** One whose usage is assigned. */
function findSession({ usage }: Boxoffice): Promise<Session> {
  return until('usage in sessions', async () => {
    for await (const session of usage.sessions({ participant: 'ariel' })) {
      return session.records === 3 ? session : undefined;
    }
    return undefined;
  });
}

/** As a person at the console does it. */
async function moderate(owner: Person): Promise<void> {
  const at = '/console/rooms/at/main-stage';
  await owner.send(`${at}/mute`, { username: 'rosalind', audio: 'on', reason: 'Feedback from the speakers' });
  await owner.send(`${at}/mute`, { username: 'heckler', audio: 'on', reason: 'Talks over the play' });
  await owner.send(`${at}/kick`, { username: 'heckler', reason: 'Goes on talking' });
  const bans = [
    { kind: 'user', subject: 'heckler', room: 'main-stage', time: 'day', reason: 'Goes on talking' },
    { kind: 'cidr', subject: '203.0.113.0/24', room: '', time: 'week', reason: 'Uninvited cameras' },
  ];
  for (const ban of bans) await owner.send('/console/rooms/bans', ban);
}

function monthBefore(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
