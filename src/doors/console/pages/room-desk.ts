/** The participants of a room, each with what a moderator does most. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Participant } from '../../../control/rooms/participant.ts';
import type { RoleCount, Room } from '../../../control/rooms/room.ts';
import { ROLE_WORDS } from '../../../money/pricing/role.ts';
import { badge, countOf, field, named, timeOf } from '../../consoles/components.ts';
import { queryOf } from '../../consoles/query.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';

/** The name of a field: the form stands in a row of the desk, so the next page is the desk again. */
export const AT_DESK = 'desk';

/** The name of a field: who stands beside the row, and is in its place when it is gone. */
export const BESIDE = 'beside';

/** Which part of the desk is open. */
const PART = ['search', 'after'] as const;

/** What a row sends besides what its button needs, so that the desk opens again where it was. */
export const DESK_FIELDS = [AT_DESK, BESIDE, ...PART] as const;

export function pathOf(room: string): string {
  return `/console/rooms/at/${encodeURIComponent(room)}`;
}

/** The desk as it was when the form was sent, at the row of `username`. */
export function deskPath(room: string, form: Form, username: string | undefined): string {
  const row = username === undefined ? '' : `#${encodeURIComponent(rowOf(username))}`;
  return `${pathOf(room)}${queryOf(form, PART)}${row}`;
}

/** The id of a row. Names hold no spaces. */
function rowOf(username: string): string {
  return `row-${username}`;
}

export function renderDesk(
  room: Room,
  participants: readonly Participant[],
  { mayModerate, query }: { readonly mayModerate: boolean; readonly query: Form },
): Html {
  return table(
    'Participants',
    ['Participant', 'Role', 'Since', 'Restricted', mayModerate && 'Act'],
    participants.map((participant, at) => [
      html`<a href="${pathOf(room.name)}/person?name=${encodeURIComponent(participant.username)}">${named(participant.username)}</a>`,
      ROLE_WORDS[participant.role],
      timeOf(participant.enteredAt),
      renderRestrictions(participant),
      renderActions(room, participant, { query, beside: participants[at + 1] ?? participants[at - 1] }),
    ]),
    { names: 'Participant', look: 'desk', ids: participants.map(({ username }) => rowOf(username)) },
  );
}

export function renderRestrictions({
  muted,
  publishRevoked,
}: Pick<Participant, 'muted' | 'publishRevoked'>): Html {
  return html`${muted.map((track) => html`${badge(`${track} muted`, 'warn')} `)}${publishRevoked.map(
    (track) => html`${badge(`no ${track}`, 'bad')} `,
  )}`;
}

/** Reasons, tracks and times are chosen on the page of the participant. */
function renderActions(
  room: Room,
  { username, muted }: Participant,
  { query, beside }: { readonly query: Form; readonly beside: Participant | undefined },
): Html {
  const isMuted = muted.includes('audio');
  const button = (action: string, text: string, whom: string, look = '') =>
    html`<button formaction="${pathOf(room.name)}/${action}" class="${look}" title="${text} ${whom}">${text}<span class="hidden"> ${whom}</span></button>`;
  return html`<form class="inline" method="post" action="${pathOf(room.name)}/mute"><input type="hidden" name="${AT_DESK}" value="on">
<input type="hidden" name="username" value="${username}"><input type="hidden" name="audio" value="on">
<input type="hidden" name="scope" value="room"><input type="hidden" name="time" value="day">
${beside && html`<input type="hidden" name="${BESIDE}" value="${beside.username}">`}
${PART.map((name) => query.has(name) && html`<input type="hidden" name="${name}" value="${query.get(name)}">`)}
${isMuted ? button('unmute', 'Unmute', username) : button('mute', 'Mute', username)}
${button('kick', 'Kick', username, 'danger')} ${button('ban', 'Ban', `${username} from this room for a day`, 'danger')}</form>`;
}

/** `12 participants: 1 host, 11 audience`. */
export function renderCounts({ participantCount }: Room, counts: readonly RoleCount[] = []): Html {
  const countOfRole = ({ role, count }: RoleCount) =>
    role === 'host' ? countOf(count, ROLE_WORDS.host) : `${count} ${ROLE_WORDS[role]}`;
  const roles = counts.map(countOfRole).join(', ');
  return html`${countOf(participantCount, 'participant')}${roles && `: ${roles}`}.`;
}

export function renderSearch(room: Room, searched: string | undefined): Html {
  return html`<form class="filters" method="get" action="${pathOf(room.name)}">
${field({
  name: 'search',
  label: 'Find a participant',
  value: searched,
  input: html`type="search" maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false"`,
})}<button>Find</button>${searched !== undefined && html`<a class="button" href="${pathOf(room.name)}">Show all</a>`}</form>`;
}
