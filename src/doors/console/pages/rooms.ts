/** `/console/rooms`: live rooms, who is in them, and what happens there. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { readPage } from '../../../base/lib/page.ts';
import { closeRoom } from '../../../control/moderation/close-room.ts';
import { countParticipants } from '../../../control/rooms/count-participants.ts';
import { getRoom } from '../../../control/rooms/get-room.ts';
import { listParticipants } from '../../../control/rooms/list-participants.ts';
import { hasRooms } from '../../../control/rooms/list-rooms.ts';
import type { RoleCount, Room, RoomState } from '../../../control/rooms/room.ts';
import { getRoomCosts } from '../../../control/sessions/get-room-cost.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import { badge, emptyState, exact, type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { parseConfirm } from '../../consoles/fields.ts';
import { queryOf } from '../../consoles/query.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import { moderate, parseReason, parseRoomName, parseUsername, REASON_LENGTH_MAX } from '../moderation.ts';
import type { SessionCall } from '../route.ts';
import { renderFirstRoom } from './first-room.ts';
import { pathOf, renderCounts, renderDesk, renderSearch } from './room-desk.ts';
import { renderFeed } from './room-feed.ts';
import {
  findListed,
  renderNoneFound,
  renderRoomPages,
  renderRoomSearch,
  renderSearched,
} from './room-search.ts';

const PARTICIPANTS = 100;
/** What must be typed to end a room. */
const END = 'end';

export async function showRooms(call: SessionCall): Promise<Answer> {
  const { query } = call;
  const isEnded = query.get('state') === 'ended';
  const [state, title] = isEnded ? (['ENDED', 'Ended rooms'] as const) : (['LIVE', 'Rooms'] as const);
  const heading = html`<h1>${title}</h1>
<p><a href="/console/rooms${queryOf(query, ['name'], isEnded ? {} : { state: 'ended' })}">${isEnded ? 'Live rooms' : 'Ended rooms'}</a></p>`;
  const { value: listed, faults } = await findOrFaults(call, state);
  if (faults) return page({ title, body: html`${heading}${renderRoomSearch(query, faults)}` }, 400);
  const { rooms, name } = listed;
  const body = html`${heading}
${(rooms.length > 0 || name !== undefined) && renderRoomSearch(query, {})}
<div id="rooms" data-live>${renderSearched(listed, query)}
${rooms.length > 0 ? await renderRooms(call, rooms, state) : await renderNoRoom(call, state, name)}
${renderRoomPages(listed, query)}</div>
${state === 'LIVE' && (await renderFeed(call, undefined))}`;
  return page({ title, body });
}

async function findOrFaults(call: SessionCall, state: RoomState) {
  try {
    return { value: await findListed(call, state), faults: undefined };
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return { value: undefined, faults };
  }
}

async function renderNoRoom(
  { deps, session, query }: SessionCall,
  state: RoomState,
  searched: string | undefined,
): Promise<Html> {
  if (searched !== undefined) return renderNoneFound(query);
  if (state === 'ENDED')
    return emptyState('No room has ended yet.', 'Rooms that ended stay here with what they cost.');
  if (!(await hasRooms(deps.db, session.tenant))) return renderFirstRoom(deps.config, session.tenant);
  return emptyState(
    'No room is live.',
    'A room comes to life when your back end creates it, or when the first participant joins it.',
  );
}

/** With what each cost so far, for those who see money. */
async function renderRooms(
  { deps, session }: SessionCall,
  rooms: readonly Room[],
  state: RoomState,
): Promise<Html> {
  const seesMoney = mayDo(session.role, 'see_money');
  const costs = seesMoney ? await getRoomCosts(deps.db, session.tenant, rooms) : new Map<string, bigint>();
  const isLive = state === 'LIVE';
  return table(
    isLive ? 'Live rooms' : 'Ended rooms',
    ['Room', 'Since', !isLive && 'Ended', 'Mode', isLive && 'Participants', seesMoney && 'Cost'],
    rooms.map(({ name, uid, createdAt, endedAt, policy, participantCount }) => [
      // The page of a name is that of its newest room.
      isLive ? html`<a href="${pathOf(name)}">${named(name)}</a>` : named(name),
      timeOf(createdAt),
      endedAt && timeOf(endedAt),
      html`${policy.mode.toLowerCase()}${policy.locked && html` ${badge('locked', 'warn')}`}`,
      participantCount,
      html`<a href="/console/room-cost/${uid}">${exact(costs.get(uid) ?? 0n)}<span class="hidden"> for ${name}</span></a>`,
    ]),
    { numbers: ['Participants', 'Cost'], names: 'Room' },
  );
}

export async function showRoom(call: SessionCall): Promise<Answer> {
  return page(await roomPage(call, {}));
}

export async function submitEnd(call: SessionCall): Promise<Answer> {
  const { form, params } = call;
  const room = parseRoomName(params.room);
  try {
    const { reason } = readFields({
      reason: () => parseReason(form),
      confirm: () => parseConfirm(form, END),
    });
    await moderate(call, (tx, moderator) => closeRoom(tx, moderator, { room, reason, actor: undefined }));
    return done(pathOf(room), 'The room is ended.');
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(await roomPage(call, faults), 400);
  }
}

async function roomPage(call: SessionCall, faults: Faults): Promise<Page> {
  const { deps, session, params, query, form } = call;
  const name = parseRoomName(params.room);
  const room = await getRoom(deps.db, session.tenant, { name, uid: undefined });
  const searched = query.get('search')?.trim() || undefined;
  const last = query.get('after');
  const after = last === undefined ? undefined : { roomUid: room.uid, username: parseUsername(last) };
  const { items, end } = await readPage(
    PARTICIPANTS,
    async (limit) =>
      (
        await listParticipants(deps.db, session.tenant, {
          room: { name: room.name, uid: room.uid },
          actor: undefined,
          includeLeft: false,
          after,
          containing: searched,
          limit,
        })
      ).participants,
  );
  const isLive = room.state === 'LIVE';
  const mayModerate = isLive && mayDo(session.role, 'moderate');
  const counts = await countParticipants(deps.db, session.tenant, room);
  const body = html`<h1>Room ${named(room.name)}</h1>
<div id="state" data-live>${renderState(room, counts)}</div>
${mayModerate && renderEnd(room, form.get('reason'), faults)}
${(searched !== undefined || room.participantCount > 0) && renderSearch(room, searched)}
<div id="room" data-live>${
    items.length > 0
      ? renderDesk(room, items, { mayModerate, query })
      : searched === undefined
        ? isLive
          ? renderNoParticipant(room)
          : emptyState('The room has ended.', html`<a href="/console/rooms?state=ended">Ended rooms</a>`)
        : emptyState('No participant in the room has such a name.', '')
  }
<p class="pages">${last !== undefined && html`<a href="${pathOf(room.name)}${queryOf(query, ['search'])}">From the beginning</a>`}${
    end &&
    html`<a href="${pathOf(room.name)}${queryOf(query, ['search'], { after: end.username })}" rel="next">More participants</a>`
  }</p></div>
${
  mayDo(session.role, 'see_money') &&
  html`<p><a href="/console/room-cost/${room.uid}">What this room cost</a></p>`
}
${await renderFeed(call, room.name)}
<p><a href="/console/rooms">All live rooms</a></p>`;
  return { title: `Room ${room.name}`, body };
}

/** A later page is empty once its last participant has left. */
function renderNoParticipant({ participantCount }: Room): Html {
  if (participantCount > 0) return emptyState('There are no more participants.', '');
  return emptyState('The room is empty.', 'Participants appear here as they join.');
}

function renderState(room: Room, counts: readonly RoleCount[] | undefined): Html {
  const { state, createdAt, endedAt, policy } = room;
  const rules = [
    policy.locked && badge('locked', 'warn'),
    policy.muteOnEntry && badge('mutes on entry'),
    policy.maxParticipants > 0 && badge(`at most ${policy.maxParticipants}`),
  ];
  return html`<p>${state === 'LIVE' ? badge('live', 'good') : badge('ended', 'bad')} ${rules} Since ${timeOf(createdAt)}${
    endedAt && html`, ended ${timeOf(endedAt)}`
  }. ${renderCounts(room, counts)}</p>`;
}

function renderEnd({ name }: Room, reason: string | undefined, faults: Faults): Html {
  return html`<details class="card"${(reason !== undefined || Object.keys(faults).length > 0) && html` open`}><summary>End the room</summary>
<p>All participants leave, and their tokens stop working. The name can be used again.</p>
<form method="post" action="${pathOf(name)}/end" novalidate>
${field({
  name: 'reason',
  label: 'Reason',
  value: reason,
  hint: 'Your back end and your moderators see it.',
  faults,
  input: html`maxlength="${REASON_LENGTH_MAX}" autocomplete="off"`,
})}
${field({
  name: 'confirm',
  label: html`Type <code>${END}</code> to confirm`,
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}
<p><button class="danger">End the room</button></p></form></details>`;
}
