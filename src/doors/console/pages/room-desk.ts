/** The participants of a room, each with what a moderator does most. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Participant } from '../../../control/rooms/participant.ts';
import type { RoleCount, Room } from '../../../control/rooms/room.ts';
import { badge, field, named, timeOf } from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';

/** The name of a field: the form stands in a row of the desk, so the next page is the desk again. */
export const AT_DESK = 'desk';

/** What else a row sends: which part of the desk was open. */
export const DESK_FIELDS = ['search', 'after'] as const;

export function pathOf(room: string): string {
  return `/console/rooms/at/${encodeURIComponent(room)}`;
}

export function renderDesk(
  room: Room,
  participants: readonly Participant[],
  { mayModerate, query }: { readonly mayModerate: boolean; readonly query: Form },
): Html {
  return table(
    'Participants',
    ['Participant', 'Role', 'Since', 'Restricted', mayModerate && 'Act'],
    participants.map((participant) => [
      html`<a href="${pathOf(room.name)}/person?name=${encodeURIComponent(participant.username)}">${named(participant.username)}</a>`,
      participant.role,
      timeOf(participant.enteredAt),
      renderRestrictions(participant),
      renderActions(room, participant, query),
    ]),
    { names: 'Participant', look: 'desk' },
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
function renderActions(room: Room, { username, muted }: Participant, query: Form): Html {
  const isMuted = muted.includes('audio');
  const button = (action: string, text: string, whom: string, look = '') =>
    html`<button formaction="${pathOf(room.name)}/${action}" class="${look}" title="${text} ${whom}">${text}<span class="hidden"> ${whom}</span></button>`;
  return html`<form class="inline" method="post" action="${pathOf(room.name)}/mute"><input type="hidden" name="${AT_DESK}" value="on">
<input type="hidden" name="username" value="${username}"><input type="hidden" name="audio" value="on">
<input type="hidden" name="scope" value="room"><input type="hidden" name="time" value="day">
${DESK_FIELDS.map((name) => query.has(name) && html`<input type="hidden" name="${name}" value="${query.get(name)}">`)}
${isMuted ? button('unmute', 'Unmute', username) : button('mute', 'Mute', username)}
${button('kick', 'Kick', username, 'danger')} ${button('ban', 'Ban', `${username} from this room for a day`, 'danger')}</form>`;
}

/** `12 participants: 1 host, 11 audience`. */
export function renderCounts({ participantCount }: Room, counts: readonly RoleCount[] = []): Html {
  const roles = counts.map(({ role, count }) => `${count} ${role}`).join(', ');
  return html`${participantCount.toLocaleString('en-US')} ${participantCount === 1 ? 'participant' : 'participants'}${roles && `: ${roles}`}.`;
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
