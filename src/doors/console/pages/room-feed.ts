/** What happens in rooms, as rows: the newest ones with the page, and later ones as they happen. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { listMembers } from '../../../access/members/list-members.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import { maySessionStill } from '../../../access/sessions/authenticate-session.ts';
import { invalidField } from '../../../base/failure.ts';
import { MODERATION_WORDS, type ModerationEvent } from '../../../control/moderation/moderation-event.ts';
import { LEAVE_WORDS } from '../../../control/rooms/participant.ts';
import type { Event } from '../../../control/streams/stream-event.ts';
import { listRecentEvents, type Tail, tailEvents } from '../../../control/streams/tail-events.ts';
import {
  CONDITION_WORDS,
  WATCHDOG_ACTION_WORDS,
  type Watchdog,
} from '../../../control/watchdogs/watchdog.ts';
import type { Place } from '../../../events/event.ts';
import { ROLE_WORDS } from '../../../money/pricing/role.ts';
import type { Answer } from '../../consoles/answer.ts';
import { named, timeOf, timeOfMs } from '../../consoles/components.ts';
import { parseOptionalRoom } from '../moderation.ts';
import type { SessionCall } from '../route.ts';
import { streamToTab } from '../tab-stream.ts';

/** With the page. The script keeps 200. */
const ROWS = 50;

/** The newest events of the rooms of a name, or of all. The script adds later ones. */
export async function renderFeed(call: SessionCall, room: string | undefined): Promise<Html> {
  const { deps, session } = call;
  const { events, place } = await listRecentEvents(deps.db, session.tenant, { room, limit: ROWS });
  const people = await findPeople(call, actsOf(events));
  const query = new URLSearchParams({ after: renderPlace(place), ...(room !== undefined && { room }) });
  return html`<h2 id="feed-title">Events</h2>
<p class="hint" role="status" id="feed-state">Reload the page to see newer ones.</p>
<div class="scroll feed" role="region" aria-labelledby="feed-title" tabindex="0">
<ol id="feed" data-events="/console/rooms/events?${query.toString()}">${events.map((event) => renderRow(event, people))}</ol></div>`;
}

/** What moderators did, one line each. */
export async function renderActs(call: SessionCall, acts: readonly ModerationEvent[]): Promise<Html> {
  const people = await findPeople(call, acts);
  return html`<ol class="plain-list">${acts.map((act) => html`<li>${timeOf(act.at)} ${describeAct(act, people)}</li>`)}</ol>`;
}

/** The stream of one tab. It ends with the session. */
export async function sendRoomEvents(call: SessionCall): Promise<Answer> {
  const { deps, session, query, request } = call;
  // A browser that connects again says what it had last.
  const last = request.headers['last-event-id'];
  const after = parsePlace(typeof last === 'string' && last !== '' ? last : (query.get('after') ?? ''));
  const room = parseOptionalRoom(query.get('room'));
  const mayGoOn = () => maySessionStill(deps, session, 'see_rooms');
  return streamToTab(call, async function* (signal) {
    const tail = tailEvents(deps, session, { after, room, signal, mayGoOn });
    for await (const item of tail) {
      const acts = item.type === 'event' ? actsOf([item.event]) : [];
      yield renderItem(item, await findPeople(call, acts));
    }
  });
}

/** Source: HTML, "Server-sent events". A line break would end a field. */
function renderItem(item: Tail, people: People): string {
  if (item.type === 'silence') return ': nothing new\n\n';
  if (item.type !== 'event') return `event: ${item.type}\ndata: ${item.type}\n\n`;
  const row = renderRow(item.event, people).text.replace(/[\r\n]+/g, ' ');
  return `id: ${renderPlace(item.event)}\nevent: row\ndata: ${row}\n\n`;
}

function renderPlace({ seq, at }: Place): string {
  return `${seq}-${at?.getTime() ?? ''}`;
}

function parsePlace(text: string): Place {
  const [, seq, ms] = /^(\d{1,18})-(\d{0,15})$/.exec(text) ?? [];
  if (seq === undefined) throw invalidField('after', 'must be that of a page of the console');
  return { seq: BigInt(seq), at: ms === '' ? null : new Date(Number(ms)) };
}

/** The addresses of members, by id; `undefined`: the reader sees no members. */
type People = ReadonlyMap<string, string> | undefined;

/** The members, if any of them acted. Sessions of keys see none. */
async function findPeople(
  { deps, session }: SessionCall,
  acts: readonly Partial<Pick<ModerationEvent, 'memberId'>>[],
): Promise<People> {
  if (!mayDo(session.role, 'see_members')) return undefined;
  const members = acts.some(({ memberId }) => memberId) ? await listMembers(deps, session.tenant) : [];
  return new Map(members.map(({ id, email }) => [id, email]));
}

const actsOf = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'moderation' ? [event.subject] : []));

function renderRow(event: Event, people: People): Html {
  return html`<li>${timeOf(event.at)} <span>${describe(event, people)}</span></li>`;
}

/** One sentence without its dot. */
function describe(event: Event, people: People): Html {
  switch (event.type) {
    case 'room_created':
      return html`Room ${named(event.subject.name)} was created`;
    case 'room_updated':
      return html`Room ${named(event.subject.name)} has other rules`;
    case 'room_ended':
      return html`Room ${named(event.subject.name)} ended`;
    case 'participant_entered':
      return html`${named(event.subject.username)} entered ${named(event.subject.room)} as ${ROLE_WORDS[event.subject.role]}`;
    case 'participant_updated':
      return html`${named(event.subject.username)} changed in ${named(event.subject.room)}`;
    case 'participant_left':
      return html`${named(event.subject.username)} left ${named(event.subject.room)}: ${LEAVE_WORDS[event.subject.leaveReason ?? 'expired']}`;
    case 'moderation':
      return describeAct(event.subject, people);
    case 'watchdog_warned':
      return html`${describeWatchdog(event.subject)} is about to fire`;
    case 'watchdog_rearmed':
      return html`${describeWatchdog(event.subject)} waits again`;
    case 'watchdog_fired':
      return html`${describeWatchdog(event.subject)} fired: ${WATCHDOG_ACTION_WORDS[event.subject.action]}`;
    default:
      return html`${event.type}`;
  }
}

/** What it waits for, as in the list of watchdogs. */
function describeWatchdog({ condition, durationMs, room }: Watchdog): Html {
  return html`The watchdog of ${named(room)} (${CONDITION_WORDS[condition]} ${timeOfMs(durationMs)})`;
}

function describeAct(
  { action, subject, tracks, reason, room, ...by }: Omit<ModerationEvent, 'id'>,
  people: People,
): Html {
  const who = whoOf(by, people);
  return html`${who} ${MODERATION_WORDS[action]}${subject && html` ${named(subject.value)}`}${
    tracks.length > 0 && html` (${tracks.join(', ')})`
  }${room !== null && html` in ${named(room)}`}${reason !== '' && html`: ${named(reason)}`}`;
}

function whoOf(
  {
    actor,
    keyId,
    memberId,
    watchdogId,
  }: Pick<ModerationEvent, 'actor' | 'keyId' | 'memberId' | 'watchdogId'>,
  people: People,
): HtmlValue {
  if (actor !== null) return named(actor);
  if (watchdogId !== null) return 'A watchdog';
  if (keyId !== null) return 'Your back end';
  if (!memberId || !people) return 'A person at the console';
  return named(people.get(memberId) ?? 'A former member');
}
