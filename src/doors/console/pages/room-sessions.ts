/** `/console/room-sessions`: who was in rooms, how long, and what it cost, also as CSV; one session; the cost of a room. */
import { type Html, html } from '@boxoffice/pages/html';
import { labelKeys } from '../../../access/devices/label-keys.ts';
import { getRoomCost } from '../../../control/sessions/get-room-cost.ts';
import { getSession, type ShownSession } from '../../../control/sessions/get-session.ts';
import {
  type Session,
  type SessionUsage,
  secondsByTier,
  totalSeconds,
} from '../../../control/sessions/session.ts';
import { ROLE_WORDS, TIER_WORDS, TIERS } from '../../../money/pricing/role.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { exact, named, timeOf } from '../../consoles/components.ts';
import { separatorOf } from '../../consoles/csv-links.ts';
import {
  duration,
  parseSessionFilter,
  renderEnd,
  showSessionsInRooms,
} from '../../consoles/room-session-list.ts';
import { facts, table } from '../../consoles/table.ts';
import { streamItems } from '../../http/item-stream.ts';
import { SESSION_COLUMNS, sessionStream } from '../../http/session-list.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/room-sessions';
export async function showRoomSessions({ deps, session, query }: SessionCall): Promise<Answer> {
  const asked = { db: deps.db, tenant: session.tenant, query };
  return showSessionsInRooms(asked, { path: PATH, hasDetails: true });
}

/** Every session that the filters let through, however many there are. */
export async function sendRoomSessions({ deps, session, query }: SessionCall): Promise<Answer> {
  const chunks = await streamItems(deps, sessionStream(deps.db, session.tenant, parseSessionFilter(query)), {
    caller: session,
    columns: SESSION_COLUMNS,
    type: 'text/csv',
    separator: separatorOf(query),
  });
  return { kind: 'download', type: 'text/csv; charset=utf-8', chunks, saveAs: 'sessions.csv' };
}

export async function showRoomSession({ deps, session, params }: SessionCall): Promise<Answer> {
  const shown = await getSession(deps.db, session.tenant, params.id ?? '');
  const { participant, room, keyId } = shown.session;
  const keys = await labelKeys(deps.db, session.tenant, keyId === null ? [] : [keyId]);
  const title = `Session of ${participant}`;
  const body = html`<h1>Session of ${named(participant)}</h1>
${renderFacts(shown.session, keys)}
<h2>Usage and cost</h2>
${renderUsage('What the session cost', shown.session.usage)}
${assignedNote(shown)}
<h2>Newest records</h2>
${renderRecords(shown)}
<p><a href="${PATH}?room=${encodeURIComponent(room)}">Sessions in rooms of this name</a></p>`;
  return page({ title, body });
}

function renderFacts(session: Session, keys: ReadonlyMap<string, string>): Html {
  const { room, roomUid, role, keyId, customer, devices, enteredAt } = session;
  return facts('The session', {
    Room: html`<a href="/console/room-cost/${roomUid}">${named(room)}<span class="hidden">: what this room cost</span></a>`,
    Entered: timeOf(enteredAt),
    Ended: renderEnd(session),
    Role: ROLE_WORDS[role],
    'Admitted by': keyId !== null && named(keys.get(keyId) ?? keyId),
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
    ...Object.fromEntries(used.map((tier) => [`In ${TIER_WORDS[tier]}`, duration(seconds[tier])])),
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
      ROLE_WORDS[role],
      TIER_WORDS[tier],
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
