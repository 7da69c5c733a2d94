/** What entries of a tenant's audit trail are about, by name and with the page that shows it. The trail itself has ids alone. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { labelAgentKeys } from '../../access/agents/list-agent-keys.ts';
import { labelKeys } from '../../access/devices/label-keys.ts';
import { isKeyId } from '../../access/keys/api-key.ts';
import type { AccessKind } from '../../access/members/other-access.ts';
import type { AuditEntry } from '../../base/audit/audit-entry.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findActs } from '../../control/moderation/list-moderation-events.ts';
import { MODERATION_WORDS, type ModerationEvent } from '../../control/moderation/moderation-event.ts';
import { findRoomNames } from '../../control/rooms/get-room.ts';
import { findWebhookHosts } from '../../outward/webhooks/get-webhook.ts';
import { named } from './components.ts';

type Thing =
  | 'key'
  | 'device'
  | 'agent'
  | 'webhook'
  | 'member'
  | 'budget'
  | 'act'
  | 'watchdog'
  | 'erasure'
  | 'tenant';

/** By the beginning of the action. */
const THINGS: readonly (readonly [start: string, thing: Thing])[] = [
  ['key_', 'key'],
  ['device_credential_', 'device'],
  ['agent_key_', 'agent'],
  ['webhook_', 'webhook'],
  ['member_', 'member'],
  ['invitation_', 'member'],
  ['budget_', 'budget'],
  ['moderated', 'act'],
  ['watchdog_', 'watchdog'],
  ['erasure_', 'erasure'],
  ['tenant_', 'tenant'],
  ['console_link_made', 'tenant'],
];

/** Their names are ids, or have them. */
const SAYS_ID: readonly Thing[] = ['key', 'device', 'agent', 'budget'];

/** What is shown by a page of its own, and what people call it; by the beginning of the action. */
const PAGES: readonly (readonly [start: string, path: string, name: string])[] = [
  ['auto_top_up_', '/console/top-up', 'automatic top-up'],
  ['alerts_', '/console/alerts', 'alerts'],
  ['mail_settings_', '/console/mail', 'mail'],
  ['billing_details_', '/console/billing-details', 'billing details'],
  ['time_zone_', '/console/billing-details', 'time zone'],
  ['credit_granted', '/console/payments', 'grant'],
  ['grant_', '/console/payments', 'grant'],
  ['credit_adjusted', '/console/ledger?kind=adjustment', 'adjustment'],
  ['charges_corrected', '/console/ledger?kind=correction', 'corrections'],
];

/** What an operator looked at. */
const READ: Readonly<Record<string, string>> = {
  ledger: '/console/ledger',
  members: '/console/members',
  room_sessions: '/console/room-sessions',
  webhooks: '/console/webhooks',
  billing_details: '/console/billing-details',
};

/** Whose entries they are, and what their reader may see. */
export interface Reader {
  readonly db: Db;
  readonly tenant: TenantId;
  /** People, by their names and addresses; absent: the reader sees who they are elsewhere, where it is noted. */
  readonly people?: People | undefined;
  /** A page of the tenant's console, with its text. The text alone, if the reader may not open it. */
  linkTo(path: string, text: HtmlValue): Html;
}

interface People {
  readonly tenantName: string;
  /** Addresses of members that still are, by their ids. */
  readonly members: ReadonlyMap<string, string>;
}

/** Names by id. */
interface Known extends Pick<Reader, 'people' | 'linkTo'> {
  readonly keys: ReadonlyMap<string, string>;
  readonly agents: ReadonlyMap<string, string>;
  readonly acts: ReadonlyMap<string, ModerationEvent>;
  readonly rooms: ReadonlyMap<string, string>;
  /** Hosts of those that still are. */
  readonly webhooks: ReadonlyMap<string, string>;
}

/** Who acted, and on what. */
export interface NamedEntries {
  readonly keyOf: (id: string) => Html;
  readonly subjectOf: (entry: AuditEntry) => HtmlValue;
}

/** Look up what entries of one tenant are about. */
export async function nameEntries(reader: Reader, entries: readonly AuditEntry[]): Promise<NamedEntries> {
  const { db, tenant, people, linkTo } = reader;
  const idsOf = (...things: readonly Thing[]) =>
    entries.flatMap((entry) => (things.includes(thingOf(entry)!) ? [entry.subject!] : []));
  const actors = entries.flatMap(({ actorKind, actorId }) => (actorKind === 'key' ? [actorId] : []));
  const roomUids = entries.map(roomUidOf).filter((uid) => uid !== undefined);
  const known: Known = {
    people,
    linkTo,
    keys: await labelKeys(db, tenant, [...actors, ...idsOf('key', 'device')]),
    agents: await labelAgentKeys(db, tenant, [...actors, ...idsOf('agent')]),
    acts: people ? await findActs(db, tenant, idsOf('act').map(BigInt)) : new Map(),
    rooms: await findRoomNames(db, tenant, roomUids),
    webhooks: await findWebhookHosts(db, tenant, idsOf('webhook')),
  };
  return {
    keyOf: (id) => {
      const agent = known.agents.get(id);
      if (agent !== undefined) return linkTo('/console/agents', named(agent));
      return linkTo(`/console/keys/${id}`, named(known.keys.get(id) ?? id));
    },
    subjectOf: (entry) => renderSubject(entry, known),
  };
}

function thingOf({ action, subject, after }: AuditEntry): Thing | undefined {
  if (subject === null) return undefined;
  if (action === 'access_kept') return after?.kind as AccessKind;
  if (action === 'login_failed') return isKeyId(subject) ? 'key' : 'member';
  return THINGS.find(([start]) => action.startsWith(start))?.[1];
}

function roomUidOf({ before, after }: AuditEntry): string | undefined {
  const uid = (after ?? before)?.room_uid;
  return typeof uid === 'string' ? uid : undefined;
}

function renderSubject(entry: AuditEntry, known: Known): HtmlValue {
  const { action, subject } = entry;
  const { linkTo } = known;
  if (action === 'operator_read' && subject !== null && READ[subject] !== undefined)
    return linkTo(READ[subject], subject.replace('_', ' '));
  const id = subject !== null && html`<code>${subject}</code>`;
  const [, path, name] = PAGES.find(([start]) => action.startsWith(start)) ?? [];
  if (path !== undefined) return html`<span class="name">${linkTo(path, name)} ${id}</span>`;
  const thing = thingOf(entry);
  if (subject === null || thing === undefined) return id;
  return html`<span class="name">${renderThing(thing, { ...entry, subject }, known)} ${!SAYS_ID.includes(thing) && id}</span>`;
}

type About = AuditEntry & { readonly subject: string };

function renderThing(thing: Thing, entry: About, known: Known): HtmlValue {
  const { subject: id, before, after } = entry;
  const { people, linkTo } = known;
  switch (thing) {
    case 'key':
      return linkTo(`/console/keys/${id}`, named(known.keys.get(id) ?? id));
    case 'agent':
      return linkTo('/console/agents', named(known.agents.get(id) ?? id));
    case 'device':
      return linkTo('/console/devices', named(known.keys.get(id) ?? id));
    case 'webhook': {
      const host = known.webhooks.get(id);
      if (host !== undefined) return linkTo(`/console/webhooks/${id}`, named(host));
      return named(String((after ?? before)?.host ?? 'deleted webhook'));
    }
    case 'member': {
      if (!people) return linkTo('/console/members', 'member');
      const email = people.members.get(id);
      return email === undefined ? 'former member' : linkTo('/console/members', named(email));
    }
    case 'budget':
      return linkTo('/console/budgets', named(id));
    case 'act':
      return people ? renderAct(known.acts.get(id), known) : renderRoomOf(entry, known);
    case 'watchdog':
      return renderRoomOf(entry, known);
    case 'erasure':
      return linkTo(`/console/people/erasures/${id}`, 'erasure');
    case 'tenant':
      return people && named(people.tenantName);
  }
}

/** `banned ann in lobby`. A name that was erased is not there any more. */
function renderAct(act: ModerationEvent | undefined, { linkTo }: Known): HtmlValue {
  if (!act) return null;
  const { action, subject, room } = act;
  const whom = subject && named(subject.value);
  const isUser = subject?.kind === 'user';
  return html`<span>${MODERATION_WORDS[action]} ${
    isUser ? linkTo(`/console/people?name=${encodeURIComponent(subject.value)}`, whom) : whom
  }${room === null ? ' in all rooms' : html` in ${renderRoom(room, linkTo)}`}</span>`;
}

/** A ban in all rooms has none. */
function renderRoomOf(entry: AuditEntry, { rooms, linkTo }: Known): HtmlValue {
  const uid = roomUidOf(entry);
  return uid === undefined ? null : renderRoom(rooms.get(uid), linkTo);
}

function renderRoom(name: string | undefined, linkTo: Reader['linkTo']): HtmlValue {
  return name === undefined ? 'a room' : linkTo(`/console/rooms/at/${encodeURIComponent(name)}`, named(name));
}
