/** What entries of the audit trail are about, by name and with the page that shows it. The trail itself has ids alone. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { labelKeys } from '../../../access/devices/label-keys.ts';
import { isKeyId } from '../../../access/keys/api-key.ts';
import type { AccessKind } from '../../../access/members/other-access.ts';
import type { AuditEntry } from '../../../base/audit/audit-entry.ts';
import { findActs } from '../../../control/moderation/list-moderation-events.ts';
import { MODERATION_WORDS, type ModerationEvent } from '../../../control/moderation/moderation-event.ts';
import { findRoomNames } from '../../../control/rooms/get-room.ts';
import { listWebhooks } from '../../../outward/webhooks/get-webhook.ts';
import { named } from '../../consoles/components.ts';
import { sectionOf } from '../layout.ts';
import type { SessionCall } from '../route.ts';
import { pathOf } from './room-desk.ts';

type Thing = 'key' | 'device' | 'webhook' | 'member' | 'budget' | 'act' | 'watchdog' | 'erasure' | 'tenant';

/** By the beginning of the action. */
const THINGS: readonly (readonly [start: string, thing: Thing])[] = [
  ['key_', 'key'],
  ['device_credential_', 'device'],
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
const SAYS_ID: readonly Thing[] = ['key', 'device', 'budget'];

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

/** Names by id. */
interface Known {
  readonly tenant: string;
  readonly keys: ReadonlyMap<string, string>;
  readonly acts: ReadonlyMap<string, ModerationEvent>;
  readonly rooms: ReadonlyMap<string, string>;
  /** Hosts of those that still are. */
  readonly webhooks: ReadonlyMap<string, string>;
  /** Addresses of those that still are. */
  readonly members: ReadonlyMap<string, string>;
}

/** Who acted, and on what. */
export interface NamedEntries {
  readonly keyOf: (id: string) => Html;
  readonly subjectOf: (entry: AuditEntry) => HtmlValue;
}

/** Look up what the entries of one page are about. `members`: their addresses, for readers who see them. */
export async function nameEntries(
  { deps, session }: SessionCall,
  entries: readonly AuditEntry[],
  members: ReadonlyMap<string, string>,
): Promise<NamedEntries> {
  const { db } = deps;
  const { tenant } = session;
  const idsOf = (...things: readonly Thing[]) =>
    entries.flatMap((entry) => (things.includes(thingOf(entry)!) ? [entry.subject!] : []));
  const actors = entries.flatMap(({ actorKind, actorId }) => (actorKind === 'key' ? [actorId] : []));
  const roomUids = entries.map(roomUidOf).filter((uid) => uid !== undefined);
  const webhooks = idsOf('webhook').length > 0 ? await listWebhooks(db, tenant) : [];
  const known: Known = {
    tenant: session.tenantName,
    members,
    keys: await labelKeys(db, tenant, [...actors, ...idsOf('key', 'device')]),
    acts: await findActs(db, tenant, idsOf('act').map(BigInt)),
    rooms: await findRoomNames(db, tenant, roomUids),
    webhooks: new Map(webhooks.map(({ id, url }) => [id, new URL(url).host])),
  };
  const linkTo = (path: string, text: HtmlValue) =>
    sectionOf(path.split('?')[0]!, { session }) ? html`<a href="${path}">${text}</a>` : html`${text}`;
  return {
    keyOf: (id) => linkTo(`/console/keys/${id}`, named(known.keys.get(id) ?? id)),
    subjectOf: (entry) => renderSubject(entry, known, linkTo),
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

type LinkTo = (path: string, text: HtmlValue) => Html;

function renderSubject(entry: AuditEntry, known: Known, linkTo: LinkTo): HtmlValue {
  const { action, subject } = entry;
  if (action === 'operator_read' && subject !== null && READ[subject] !== undefined)
    return linkTo(READ[subject], subject.replace('_', ' '));
  const id = subject !== null && html`<code>${subject}</code>`;
  const [, path, name] = PAGES.find(([start]) => action.startsWith(start)) ?? [];
  if (path !== undefined) return html`<span class="name">${linkTo(path, name)} ${id}</span>`;
  const thing = thingOf(entry);
  if (subject === null || thing === undefined) return id;
  return html`<span class="name">${renderThing(thing, { ...entry, subject }, known, linkTo)} ${!SAYS_ID.includes(thing) && id}</span>`;
}

type About = AuditEntry & { readonly subject: string };

function renderThing(thing: Thing, entry: About, known: Known, linkTo: LinkTo): HtmlValue {
  const { subject: id, before, after } = entry;
  switch (thing) {
    case 'key':
      return linkTo(`/console/keys/${id}`, named(known.keys.get(id) ?? id));
    case 'device':
      return linkTo('/console/devices', named(known.keys.get(id) ?? id));
    case 'webhook': {
      const host = known.webhooks.get(id);
      if (host !== undefined) return linkTo(`/console/webhooks/${id}`, named(host));
      return named(String((after ?? before)?.host ?? 'deleted webhook'));
    }
    case 'member': {
      const email = known.members.get(id);
      return email === undefined ? 'former member' : linkTo('/console/members', named(email));
    }
    case 'budget':
      return linkTo('/console/budgets', named(id));
    case 'act':
      return renderAct(known.acts.get(id), linkTo);
    case 'watchdog':
      return renderRoom(known.rooms.get(roomUidOf(entry) ?? ''), linkTo);
    case 'erasure':
      return linkTo(`/console/people/erasures/${id}`, 'erasure');
    case 'tenant':
      return named(known.tenant);
  }
}

/** `banned ann in lobby`. A name that was erased is not there any more. */
function renderAct(act: ModerationEvent | undefined, linkTo: LinkTo): HtmlValue {
  if (!act) return null;
  const { action, subject, room } = act;
  const whom = subject && named(subject.value);
  const isUser = subject?.kind === 'user';
  return html`<span>${MODERATION_WORDS[action]} ${
    isUser ? linkTo(`/console/people?name=${encodeURIComponent(subject.value)}`, whom) : whom
  }${room === null ? ' in all rooms' : html` in ${renderRoom(room, linkTo)}`}</span>`;
}

function renderRoom(name: string | undefined, linkTo: LinkTo): HtmlValue {
  return name === undefined ? 'a room' : linkTo(pathOf(name), named(name));
}
