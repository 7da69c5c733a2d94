/** `/console/rooms/at/:room/person`: one participant: kick, mute, ban. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { capabilityWords } from '../../../access/rights/capabilities.ts';
import { PUBLISH_RIGHTS, type PublishRight } from '../../../access/rights/publish-rights.ts';
import type { Tx } from '../../../base/db/pool.ts';
import type { Ban } from '../../../control/bans/ban.ts';
import { banSubject } from '../../../control/moderation/ban-subject.ts';
import { kickParticipant } from '../../../control/moderation/kick-participant.ts';
import { listBans } from '../../../control/moderation/list-bans.ts';
import { listModerationEvents } from '../../../control/moderation/list-moderation-events.ts';
import { type RestrictingAction, restrictTracks } from '../../../control/moderation/restrict-tracks.ts';
import { unbanSubject } from '../../../control/moderation/unban-subject.ts';
import { getParticipant } from '../../../control/rooms/get-participant.ts';
import type { Moderator } from '../../../control/rooms/moderator.ts';
import { LEAVE_WORDS, type Participant } from '../../../control/rooms/participant.ts';
import { ROLE_WORDS, TIER_WORDS } from '../../../money/pricing/role.ts';
import { type Answer, done, page, type Undo } from '../../consoles/answer.ts';
import { badge, capitalized, type Faults, field, named, select, timeOf } from '../../consoles/components.ts';
import { faultLine } from '../../consoles/fault-notice.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import {
  BAN_TIMES,
  banSentence,
  moderate,
  parseBanTime,
  parseReason,
  parseRoomName,
  parseTracks,
  parseUsername,
  REASON_LENGTH_MAX,
} from '../moderation.ts';
import type { SessionCall } from '../route.ts';
import { AT_DESK, BESIDE, DESK_FIELDS, deskPath, pathOf, renderRestrictions } from './room-desk.ts';
import { renderActs } from './room-feed.ts';

const ACTS_SHOWN = 20;
/** Bans of a name that are read, those of other rooms included. */
const BANS_READ = 100;

export async function showPerson(call: SessionCall): Promise<Answer> {
  return personPage(call, call.query.get('name'), undefined);
}

type FormName = 'mute' | 'kick' | 'ban';

/** What is wrong with what was typed into one of the forms. */
interface Wrong {
  readonly form: FormName;
  readonly faults: Faults;
}

async function personPage(
  call: SessionCall,
  name: string | undefined,
  wrong: Wrong | undefined,
): Promise<Answer> {
  const { deps, session, params, form } = call;
  const room = parseRoomName(params.room);
  const username = parseUsername(name);
  const subject = { kind: 'user', value: username } as const;
  const { tenant } = session;
  const wanted = { room: { name: room, uid: undefined }, username, actor: undefined };
  const participant = await getParticipant(deps.db, tenant, wanted);
  const acted = { room, username, before: undefined, limit: ACTS_SHOWN };
  const acts = await listModerationEvents(deps.db, tenant, acted);
  const banned = { room: undefined, subject, after: undefined, limit: BANS_READ };
  const bans = await listBans(deps.db, tenant, banned);
  const mayModerate = mayDo(session.role, 'moderate');
  const body = html`<h1>${named(username)}</h1>
<p>${renderPresence(participant)} ${renderRestrictions(participant)}</p>
${bans.filter((ban) => ban.room === null || ban.room === room).map((ban) => renderBan(ban, participant, mayModerate))}
${renderFacts(participant)}
${mayModerate && renderForms(participant, form, wrong)}
${acts.length > 0 && html`<h2>What moderators did</h2>${await renderActs(call, acts)}`}`;
  return page({ title: `${username} in ${room}`, body }, wrong ? 400 : 200);
}

function renderPresence({ room, enteredAt, leftAt, leaveReason }: Participant): Html {
  const where = html`<a href="${pathOf(room)}">${named(room)}</a>`;
  if (leftAt === null) return html`${badge('present', 'good')} in ${where} since ${timeOf(enteredAt)}.`;
  return html`${badge(`left: ${LEAVE_WORDS[leaveReason ?? 'expired']}`)} ${where} at ${timeOf(leftAt)}. Entered at ${timeOf(enteredAt)}.`;
}

/** A ban of a user is one of the name, whatever device comes with it. */
function renderBan({ subject, room, expiresAt, createdAt }: Ban, at: Participant, mayLift: boolean): Html {
  return html`<div class="note"><p>The name ${named(subject.value)} is banned from ${room === null ? 'all rooms' : html`each room named ${named(room)}`}
since ${timeOf(createdAt)}, until ${expiresAt ? timeOf(expiresAt) : 'it is lifted'}. <a href="/console/rooms/bans">Bans</a></p>
${
  mayLift &&
  html`<form method="post" action="${pathOf(at.room)}/unban"><input type="hidden" name="username" value="${at.username}">
<input type="hidden" name="scope" value="${room === null ? 'everywhere' : 'room'}"><button>Lift the ban</button></form>`
}</div>`;
}

function renderFacts({ role, rank, tier, capabilities, devices, expiresAt }: Participant): Html {
  return html`<section class="card"><h2>Rights</h2>
<p>${capitalized(ROLE_WORDS[role])}${tier !== null && html`, ${TIER_WORDS[tier]}`}. May act on ranks below ${rank}. The last token works until ${timeOf(expiresAt)}.</p>
<p>${capabilities.length > 0 ? `May: ${capabilities.map(capabilityWords).join(', ')}.` : 'May do nothing.'}</p>
${devices.map(({ thumbprint }) => html`<p class="hint">Device <code>${thumbprint}</code></p>`)}</section>`;
}

function renderForms({ room, username }: Participant, typed: Form, wrong: Wrong | undefined): Html {
  const reasonField = (form: FormName) =>
    field({
      id: `${form}-reason`,
      name: 'reason',
      label: 'Reason',
      input: html`maxlength="${REASON_LENGTH_MAX}" autocomplete="off"`,
      ...(wrong?.form === form && { value: typed.get('reason'), faults: wrong.faults }),
    });
  const inBan = (name: string, otherwise: string) =>
    (wrong?.form === 'ban' ? typed.get(name) : undefined) ?? otherwise;
  const tracksFault = wrong?.faults.tracks;
  const isChecked = (track: PublishRight) => (wrong?.form === 'mute' ? typed.has(track) : track === 'audio');
  const who = html`<input type="hidden" name="username" value="${username}">`;
  return html`<div class="cards">
<section class="card"><h2>Mute</h2>
<form method="post" action="${pathOf(room)}/mute">${who}
<fieldset class="checks" id="tracks"><legend>Tracks</legend>${PUBLISH_RIGHTS.map(
    (track) =>
      html`<label><input type="checkbox" name="${track}" value="on"${isChecked(track) && html` checked`}${tracksFault !== undefined && html` aria-describedby="tracks-fault" aria-invalid="true"`}> ${track}</label>`,
  )}</fieldset>${tracksFault !== undefined && faultLine('tracks', tracksFault)}
${reasonField('mute')}
<p class="actions"><button>Mute</button> <button formaction="${pathOf(room)}/unmute">Unmute</button></p></form></section>
<section class="card"><h2>Kick</h2><p>The participant leaves, and may join again.</p>
<form method="post" action="${pathOf(room)}/kick">${who}${reasonField('kick')}
<p><button class="danger">Kick</button></p></form></section>
<section class="card"><h2>Ban</h2><p>The participant leaves, and may not join again.</p>
<form method="post" action="${pathOf(room)}/ban">${who}
${select(
  'scope',
  'Where',
  [
    { value: 'room', text: 'in this room' },
    { value: 'everywhere', text: 'in all rooms' },
  ],
  inBan('scope', 'room'),
)}
${select('time', 'How long', BAN_TIMES, inBan('time', 'day'), wrong?.faults)}
${reasonField('ban')}
<p><button class="danger">Ban</button></p></form></section></div>`;
}

/** Do what a form asks for with what is `read` of it, or show what is wrong with it beside its fields. */
async function act<T>(
  call: SessionCall,
  form: FormName,
  read: () => T,
  sentence: (target: Target & T) => string,
  work: (tx: Tx, moderator: Moderator, target: Target & T) => Promise<unknown>,
  undo?: (target: Target) => Undo,
): Promise<Answer> {
  try {
    const target = { ...parseTarget(call), ...read() };
    await moderate(call, (tx, moderator) => work(tx, moderator, target));
    if (!call.form.has(AT_DESK)) return done(personPath(target), sentence(target));
    // A mute leaves the row where it is, and the others take it away.
    const row = form === 'mute' ? target.username : call.form.get(BESIDE);
    return done(deskPath(target.room, call.form, row), sentence(target), undo?.(target));
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return personPage(call, call.form.get('username'), { form, faults });
  }
}

export function submitKick(call: SessionCall): Promise<Answer> {
  const read = () => readFields({ reason: () => parseReason(call.form) });
  return act(call, 'kick', read, ({ username }) => `${username} is out of the room.`, kickParticipant);
}

export function submitMute(call: SessionCall): Promise<Answer> {
  return restrict(call, 'force_mute');
}

export function submitUnmute(call: SessionCall): Promise<Answer> {
  return restrict(call, 'release_mute');
}

function restrict(call: SessionCall, action: RestrictingAction): Promise<Answer> {
  const { form } = call;
  const now = action === 'force_mute' ? 'is muted' : 'is not muted any more';
  const read = () => readFields({ tracks: () => parseTracks(form), reason: () => parseReason(form) });
  return act(
    call,
    'mute',
    read,
    ({ username, tracks }) => `${tracks.join(', ')} of ${username} ${now}.`,
    (tx, moderator, target) => restrictTracks(tx, moderator, action, target),
  );
}

export function submitPersonBan(call: SessionCall): Promise<Answer> {
  const { form } = call;
  const read = () =>
    readFields({ time: () => parseBanTime(form.get('time')), reason: () => parseReason(form) });
  const sentence = (target: Target) =>
    banSentence(target.username, banRoomOf(form, target), form.get('time'));
  const ban = (tx: Tx, moderator: Moderator, target: Target & ReturnType<typeof read>) =>
    banSubject(tx, moderator, {
      room: banRoomOf(form, target),
      subject: { kind: 'user', value: target.username },
      ttlMs: target.time,
      reason: target.reason,
      actor: target.actor,
    });
  return act(call, 'ban', read, sentence, ban, (target) => undoOfBan(form, target));
}

/** Lifts the ban, and opens the desk again where it was. */
function undoOfBan(form: Form, { room }: Target): Undo {
  const kept = [...DESK_FIELDS, 'username', 'scope'].flatMap((name) => {
    const value = form.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { path: `${pathOf(room)}/unban`, fields: Object.fromEntries(kept) };
}

export function submitPersonUnban(call: SessionCall): Promise<Answer> {
  const sentence = ({ username }: Target) => `The ban of ${username} is lifted: ${username} may join again.`;
  const read = () => ({});
  return act(call, 'ban', read, sentence, (tx, moderator, target) =>
    unbanSubject(tx, moderator, {
      room: banRoomOf(call.form, target),
      subject: { kind: 'user', value: target.username },
      actor: target.actor,
    }),
  );
}

/** `undefined`: all rooms. */
const banRoomOf = (form: Form, { room }: Target) => (form.get('scope') === 'everywhere' ? undefined : room);

type Target = ReturnType<typeof parseTarget>;

function parseTarget({ params, form }: SessionCall) {
  return {
    room: parseRoomName(params.room),
    username: parseUsername(form.get('username')),
    actor: undefined,
  };
}

function personPath({ room, username }: { readonly room: string; readonly username: string }): string {
  return `${pathOf(room)}/person?name=${encodeURIComponent(username)}`;
}
