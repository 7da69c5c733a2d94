/** `/console/room-sessions`: who was in rooms, how long, and what it cost, also as CSV; one session; the cost of a room. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { LeaveReason } from '../../../control/rooms/participant.ts';
import { getRoomCost } from '../../../control/sessions/get-room-cost.ts';
import { getSession, type ShownSession } from '../../../control/sessions/get-session.ts';
import { listSessions } from '../../../control/sessions/list-sessions.ts';
import {
  type Session,
  type SessionFilter,
  type SessionUsage,
  secondsByTier,
  totalSeconds,
} from '../../../control/sessions/session.ts';
import { RECORD_TEXT_MAX } from '../../../money/ledger/posting.ts';
import { TIERS } from '../../../money/pricing/role.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { badge, emptyState, exact, type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { periodOf, queryOf, textOf } from '../../consoles/query.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { facts, table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { streamItems } from '../../http/item-stream.ts';
import {
  parseKeyFilter,
  parseSessionPlace,
  renderSessionPlace,
  SESSION_COLUMNS,
  sessionStream,
} from '../../http/session-list.ts';
import type { SessionCall } from '../route.ts';

const LINES = 50;
const PATH = '/console/room-sessions';
const FILTERS = ['room', 'participant', 'key', 'customer', 'from', 'to'] as const;

const REASONS: Readonly<Record<LeaveReason, string>> = {
  expired: 'token expired',
  kicked: 'kicked',
  banned: 'banned',
  ended: 'room ended',
  watchdog: 'watchdog',
};

export async function showRoomSessions({ deps, session, query }: SessionCall): Promise<Answer> {
  const { tenant } = session;
  const title = 'Room sessions';
  const start = parseSessionPlace(textOf(query, 'cursor', RECORD_TEXT_MAX), tenant);
  let filter: SessionFilter;
  try {
    filter = parseFilter(query);
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page({ title, body: html`<h1>${title}</h1>${renderFilters(query, faults)}` }, 400);
  }
  const { items, end } = await listSessions(deps.db, tenant, filter, start, LINES);
  const isFiltered = Object.values(filter).some((each) => each !== undefined);
  const next = end && queryOf(query, FILTERS, { cursor: renderSessionPlace(tenant, end) });
  const body = html`<h1>${title}</h1>
<p class="hint">What one participant did in one room, from entering to leaving. Usage is added within seconds.</p>
${renderFilters(query, {})}
${items.length > 0 ? renderSessions(items) : renderEmpty(isFiltered)}
${items.length > 0 && html`<p><a href="${PATH}.csv${queryOf(query, FILTERS)}">${isFiltered ? 'All sessions that fit' : 'All sessions'} as CSV</a></p>`}
<p class="pages">${start && html`<a href="${PATH}${queryOf(query, FILTERS)}">Newest</a>`}${
    next && html`<a href="${PATH}${next}" rel="next">Older sessions</a>`
  }</p>`;
  return page({ title, body });
}

/** Every session that the filters let through, however many there are. */
export async function sendRoomSessions({ deps, session, query }: SessionCall): Promise<Answer> {
  const chunks = await streamItems(deps, sessionStream(deps.db, session.tenant, parseFilter(query)), {
    caller: session,
    columns: SESSION_COLUMNS,
    type: 'text/csv',
  });
  return { kind: 'download', type: 'text/csv; charset=utf-8', chunks, saveAs: 'sessions.csv' };
}

function parseFilter(query: Form): SessionFilter {
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

function renderEmpty(isFiltered: boolean): Html {
  return isFiltered
    ? emptyState('No session fits.', html`<a href="${PATH}">Show all sessions</a>`)
    : emptyState('There are no sessions yet.', 'The first one begins when a participant enters a room.');
}

function renderFilters(query: Form, faults: Faults): Html {
  const value = (name: string) => query.get(name);
  return html`<form class="filters" method="get" action="${PATH}" novalidate>
${field({ name: 'room', label: 'Room', value: value('room'), faults })}
${field({ name: 'participant', label: 'Participant', value: value('participant'), faults })}
${field({ name: 'key', label: 'Key or credential', value: value('key'), faults })}
${field({ name: 'customer', label: 'Customer', value: value('customer'), faults })}
${field({ name: 'from', label: 'From (UTC)', value: value('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'Before (UTC)', value: value('to'), input: html`type="date"`, faults })}
<button>Filter</button></form>`;
}

function renderSessions(sessions: readonly Session[]): Html {
  return table(
    'Sessions, those that began last first',
    ['Participant', 'Room', 'Entered', 'Ended', 'Connected', 'Devices', 'Cost'],
    sessions.map(({ id, participant, room, enteredAt, devices, usage, ...session }) => [
      html`<a href="${PATH}/${id}">${named(participant)}</a>`,
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

function renderEnd({ leftAt, leaveReason }: Pick<Session, 'leftAt' | 'leaveReason'>): HtmlValue {
  if (!leftAt || !leaveReason) return badge('in the room', 'good');
  return html`${timeOf(leftAt)} ${badge(REASONS[leaveReason])}`;
}

/** `1:02:05`: hours, minutes, seconds. */
function duration(seconds: bigint): string {
  const two = (value: bigint) => String(value).padStart(2, '0');
  return `${seconds / 3600n}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
}

export async function showRoomSession({ deps, session, params }: SessionCall): Promise<Answer> {
  const shown = await getSession(deps.db, session.tenant, params.id ?? '');
  const { participant, room } = shown.session;
  const title = `Session of ${participant}`;
  const body = html`<h1>Session of ${named(participant)}</h1>
${renderFacts(shown.session)}
<h2>Usage and cost</h2>
${renderUsage('What the session cost', shown.session.usage)}
${assignedNote(shown)}
<h2>Newest records</h2>
${renderRecords(shown)}
<p><a href="${PATH}?room=${encodeURIComponent(room)}">Sessions in rooms of this name</a></p>`;
  return page({ title, body });
}

function renderFacts(session: Session): Html {
  const { room, roomUid, role, keyId, customer, devices, enteredAt } = session;
  return facts('The session', {
    Room: html`<a href="/console/room-cost/${roomUid}">${named(room)}<span class="hidden">: what this room cost</span></a>`,
    Entered: timeOf(enteredAt),
    Ended: renderEnd(session),
    Role: role,
    'Admitted by': keyId !== null && html`<code>${keyId}</code>`,
    ...(customer !== null && { Customer: named(customer) }),
    Devices: devices.map((device) => html`<code>${device}</code> `),
  });
}

function renderUsage(label: string, usage: SessionUsage): Html {
  const seconds = secondsByTier(usage);
  const used = TIERS.filter((tier) => seconds[tier] > 0n);
  return facts(label, {
    Cost: exact(usage.amount),
    ...(usage.unbilled > 0n && { 'Not billed': exact(usage.unbilled) }),
    Connected: duration(totalSeconds(usage)),
    ...Object.fromEntries(used.map((tier) => [`In ${tier}`, duration(seconds[tier])])),
    'Bytes sent': usage.egressBytes.toLocaleString('en-US'),
    'Bytes received': usage.ingressBytes.toLocaleString('en-US'),
    Records: usage.records.toLocaleString('en-US'),
  });
}

function assignedNote({ assignedUntil }: { readonly assignedUntil: Date }): Html {
  return html`<p class="hint">Every charge before ${timeOf(assignedUntil)} is in these sums.</p>`;
}

function renderRecords({ records }: ShownSession): Html {
  return table(
    'Newest records',
    ['Charged', 'Role', 'Tier', 'Seconds', 'Bytes sent', 'Cost'],
    records.map(({ id, at, role, tier, seconds, egressBytes, amount }) => [
      timeOf(at),
      role,
      tier,
      seconds,
      egressBytes.toLocaleString('en-US'),
      html`<a href="/console/charge?id=${encodeURIComponent(id)}">${exact(amount)}<span class="hidden">: explain this charge</span></a>`,
    ]),
    { numbers: ['Seconds', 'Bytes sent', 'Cost'] },
  );
}

export async function showRoomCost({ deps, session, params }: SessionCall): Promise<Answer> {
  const cost = await getRoomCost(deps.db, session.tenant, params.uid ?? '');
  const { room, sessions, assigned, unassigned } = cost;
  const body = html`<h1>Cost of the room ${named(room.name)}</h1>
<p>${exact(assigned.amount + unassigned.amount)} from ${timeOf(room.createdAt)} ${
    room.endedAt ? html`to ${timeOf(room.endedAt)}` : 'on. The room is live'
  }.</p>
<h2>Sessions</h2>
<p><a href="${PATH}?room=${encodeURIComponent(room.name)}">${sessions === 1n ? '1 session' : `${sessions} sessions`}</a></p>
${renderUsage('What the sessions cost', assigned)}
<h2>Unassigned</h2>
<p class="hint">Usage that names no participant, or none who was in the room.</p>
${renderUsage('What is unassigned', unassigned)}
${assignedNote(cost)}`;
  return page({ title: `Cost of ${room.name}`, body });
}
