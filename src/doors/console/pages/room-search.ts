/** Which rooms the list shows, and the form above it that finds them by name. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../base/failure.ts';
import { isId } from '../../../base/lib/ids.ts';
import { listRooms, type RoomPage } from '../../../control/rooms/list-rooms.ts';
import type { RoomState } from '../../../control/rooms/room.ts';
import {
  listRoomsOfName,
  listRoomsThatBegin,
  type RoomsThatBegin,
} from '../../../control/rooms/search-rooms.ts';
import { emptyState, type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { queryOf } from '../../consoles/query.ts';
import { readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import { parseOptionalRoom } from '../moderation.ts';
import type { SessionCall } from '../route.ts';

const ROOMS = 50;

/** The name of a field: the text is the beginning of names, though there are rooms of just this name. */
const BEGINS = 'begins';
const FILTERS = ['state', 'name', BEGINS] as const;

export interface Listed extends RoomPage, Partial<Pick<RoomsThatBegin, 'lookedBackTo'>> {
  /** What was searched, if anything. */
  readonly name: string | undefined;
  readonly isBeginning: boolean;
}

/** The rooms of one page. A name that no room has is taken as a beginning. Fails with `invalid_request`. */
export async function findListed({ deps, session, query }: SessionCall, state: RoomState): Promise<Listed> {
  const { name } = readFields({ name: () => parseOptionalRoom(query.get('name')) });
  const { tenant } = session;
  const asked = { state, after: parseRoomUid(query.get('after')), size: ROOMS };
  if (name === undefined) {
    const all = { namePrefix: undefined, createdFrom: undefined, createdBefore: undefined };
    return { ...(await listRooms(deps.db, tenant, { ...asked, ...all })), name, isBeginning: false };
  }
  if (!query.has(BEGINS)) {
    const found = await listRoomsOfName(deps.db, tenant, name, asked);
    const isKnown = found.rooms.length > 0 || asked.after !== undefined;
    if (isKnown) return { ...found, name, isBeginning: false };
  }
  return { ...(await listRoomsThatBegin(deps.db, tenant, name, asked)), name, isBeginning: true };
}

function parseRoomUid(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isId('rm', text)) throw invalidField('after', 'must be that of a page of the console');
  return text;
}

export function renderRoomSearch(query: Form, faults: Faults): Html {
  const state = query.get('state');
  return html`<form class="filters" method="get" action="/console/rooms" novalidate>
${state !== undefined && html`<input type="hidden" name="state" value="${state}">`}
${field({
  name: 'name',
  label: 'Name, or its beginning',
  value: query.get('name'),
  faults,
  input: html`type="search" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck="false"`,
})}<button>Find</button>${query.has('name') && html`<a class="button" href="/console/rooms${queryOf(query, ['state'])}">Show all</a>`}</form>`;
}

/** What the list has, if something was searched. */
export function renderSearched({ name, isBeginning, lookedBackTo }: Listed, query: Form): Html | false {
  if (name === undefined) return false;
  if (!isBeginning) {
    const others = queryOf(query, ['state', 'name'], { [BEGINS]: 'on' });
    return html`<p>The name is ${named(name)}. <a href="/console/rooms${others}">Names that begin so</a></p>`;
  }
  return html`<p>The name begins with ${named(name)}.${lookedBackTo && html` Rooms since ${timeOf(lookedBackTo)} were looked at.`}</p>`;
}

export function renderNoneFound(query: Form): Html {
  return emptyState('No room fits.', html`<a href="/console/rooms${queryOf(query, ['state'])}">Show all</a>`);
}

/** Links to the first page, and to the next one. */
export function renderRoomPages({ end, isBeginning, lookedBackTo }: Listed, query: Form): Html {
  const next =
    end !== undefined &&
    queryOf(query, ['state', 'name'], { ...(isBeginning && { [BEGINS]: 'on' }), after: end });
  return html`<p class="pages">${query.has('after') && html`<a href="/console/rooms${queryOf(query, FILTERS)}">Newest</a>`}${
    next &&
    html`<a href="/console/rooms${next}" rel="next">${lookedBackTo ? 'Look at older rooms' : 'Older rooms'}</a>`
  }</p>`;
}
