/** What participants did in rooms, with filters and a page at a time, in both consoles. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { LEAVE_WORDS } from '../../control/rooms/participant.ts';
import { listSessions } from '../../control/sessions/list-sessions.ts';
import { type Session, type SessionFilter, totalSeconds } from '../../control/sessions/session.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import type { Form } from '../http/form.ts';
import { parseKeyFilter, parseSessionPlace, renderSessionPlace } from '../http/session-list.ts';
import { type Answer, page } from './answer.ts';
import { badge, emptyState, exact, type Faults, field, named, timeOf } from './components.ts';
import { csvLinks } from './csv-links.ts';
import { periodOf, queryOf, textOf } from './query.ts';
import { readFields, readOrFaults } from './read-fields.ts';
import { table } from './table.ts';

const LINES = 50;

const FILTERS = ['room', 'participant', 'key', 'customer', 'from', 'to'] as const;

/** What differs between the consoles. */
export interface RoomSessionSite {
  readonly path: string;
  /** Without it, the name of the page. */
  readonly of?: HtmlValue;
  /** Whether a session has a page of its own below `path`, and all that fit are a file. */
  readonly hasDetails: boolean;
  /** What stands at the end of the page. */
  readonly below?: Html;
}

export async function showSessionsInRooms(
  { db, tenant, query }: { readonly db: Db; readonly tenant: TenantId; readonly query: Form },
  site: RoomSessionSite,
): Promise<Answer> {
  const { path, hasDetails } = site;
  const title = 'Room sessions';
  const start = parseSessionPlace(textOf(query, 'cursor', RECORD_TEXT_MAX), tenant);
  const heading = html`<h1>${title}${site.of && html` of ${site.of}`}</h1>`;
  const { value: filter, faults } = readOrFaults(() => parseSessionFilter(query));
  if (faults) return page({ title, body: html`${heading}${renderFilters(site, query, faults)}` }, 400);
  const { items, end } = await listSessions(db, tenant, filter, start, LINES);
  const isFiltered = Object.values(filter).some((each) => each !== undefined);
  const next = end && queryOf(query, FILTERS, { cursor: renderSessionPlace(tenant, end) });
  const body = html`${heading}
<p class="hint">What one participant did in one room, from entering to leaving. Usage is added within seconds.</p>
${renderFilters(site, query, {})}
${items.length > 0 ? renderSessions(site, items) : renderEmpty(site, isFiltered)}
${hasDetails && items.length > 0 && html`<p>${csvLinks(`${path}.csv${queryOf(query, FILTERS)}`, isFiltered ? 'All sessions that fit' : 'All sessions')}</p>`}
<p class="pages">${start && html`<a href="${path}${queryOf(query, FILTERS)}">Newest</a>`}${
    next && html`<a href="${path}${next}" rel="next">Older sessions</a>`
  }</p>
${site.below}`;
  return page({ title, body });
}

/** Which sessions the filters let through. Fails with `invalid_request`. */
export function parseSessionFilter(query: Form): SessionFilter {
  const text = (name: string) => textOf(query, name, RECORD_TEXT_MAX);
  const { period, ...read } = readFields({
    room: () => text('room'),
    participant: () => text('participant'),
    key: () => parseKeyFilter(text('key')),
    customer: () => text('customer'),
    period: () => periodOf(query),
  });
  return { ...read, ...period };
}

function renderEmpty({ path }: RoomSessionSite, isFiltered: boolean): Html {
  return isFiltered
    ? emptyState('No session fits.', html`<a href="${path}">Show all sessions</a>`)
    : emptyState(
        'There are no sessions yet.',
        'The first one begins when a participant enters a room with a token. Usage of others belongs to none.',
      );
}

function renderFilters({ path }: RoomSessionSite, query: Form, faults: Faults): Html {
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="${path}" novalidate>
${field({ name: 'room', label: 'Room', value: value('room'), faults })}
${field({ name: 'participant', label: 'Participant', value: value('participant'), faults })}
${field({ name: 'key', label: 'Key or credential', value: value('key'), faults })}
${field({ name: 'customer', label: 'Customer', value: value('customer'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}

function renderSessions({ path, hasDetails }: RoomSessionSite, sessions: readonly Session[]): Html {
  return table(
    'Sessions, those that began last first',
    ['Participant', 'Room', 'Entered', 'Ended', 'Connected', 'Devices', 'Cost'],
    sessions.map(({ id, participant, room, enteredAt, devices, usage, ...session }) => [
      hasDetails ? html`<a href="${path}/${id}">${named(participant)}</a>` : named(participant),
      named(room),
      timeOf(enteredAt),
      renderEnd(session),
      duration(totalSeconds(usage)),
      devices.length,
      exact(usage.amount),
    ]),
    { numbers: ['Connected', 'Devices', 'Cost'], names: 'Participant' },
  );
}

/** When and why the participant left. */
export function renderEnd({ leftAt, leaveReason }: Pick<Session, 'leftAt' | 'leaveReason'>): HtmlValue {
  if (!leftAt || !leaveReason) return badge('in the room', 'good');
  return html`${timeOf(leftAt)} ${badge(LEAVE_WORDS[leaveReason])}`;
}

/** `1:02:05`: hours, minutes, seconds. */
export function duration(seconds: bigint): string {
  const two = (value: bigint) => String(value).padStart(2, '0');
  return `${seconds / 3600n}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
}
