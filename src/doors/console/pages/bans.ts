/** `/console/rooms/bans`: who may not join, and for how long. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { Failure, invalidField } from '../../../base/failure.ts';
import { isId } from '../../../base/lib/ids.ts';
import { readPage } from '../../../base/lib/page.ts';
import type { Ban } from '../../../control/bans/ban.ts';
import { banSubject } from '../../../control/moderation/ban-subject.ts';
import { listBans } from '../../../control/moderation/list-bans.ts';
import { unbanSubject } from '../../../control/moderation/unban-subject.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import {
  type Choice,
  emptyState,
  type Faults,
  field,
  named,
  select,
  timeOf,
} from '../../consoles/components.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import {
  BAN_TIMES,
  banSentence,
  moderate,
  parseBanTime,
  parseOptionalRoom,
  parseReason,
  parseSubject,
  REASON_LENGTH_MAX,
} from '../moderation.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/rooms/bans';
const BANS = 50;

const KINDS: readonly Choice[] = [
  { value: 'user', text: 'A user, by name' },
  { value: 'device', text: 'A device, by the thumbprint of its key' },
  { value: 'cidr', text: 'A range of addresses' },
];

const KIND_NAMES = { user: 'user', device: 'device', cidr: 'addresses' } as const;

export async function showBans(call: SessionCall): Promise<Answer> {
  return page(await bansPage(call, {}));
}

export async function submitBan(call: SessionCall): Promise<Answer> {
  const { form } = call;
  try {
    const { room, subject, reason, time } = readFields({
      room: () => parseOptionalRoom(form.get('room')),
      subject: () => parseSubject(form.get('kind'), form.get('subject')),
      time: () => parseBanTime(form.get('time')),
      reason: () => parseReason(form),
    });
    const ban = { room, subject, ttlMs: time, reason, actor: undefined };
    await moderate(call, (tx, moderator) => banSubject(tx, moderator, ban));
    return done(PATH, banSentence(subject.value, room, form.get('time')));
  } catch (error) {
    const isNoRoom = error instanceof Failure && error.resource === 'room';
    const faults = isNoRoom ? { room: 'No room ever had this name.' } : faultsOf(error);
    if (!faults) throw error;
    return page(await bansPage(call, faults), 400);
  }
}

export async function submitUnban(call: SessionCall): Promise<Answer> {
  const { form } = call;
  const ban = {
    room: parseOptionalRoom(form.get('room')),
    subject: parseSubject(form.get('kind'), form.get('subject')),
    actor: undefined,
  };
  await moderate(call, (tx, moderator) => unbanSubject(tx, moderator, ban));
  return done(PATH, `The ban of ${ban.subject.value} is lifted.`);
}

async function bansPage({ deps, session, query, form }: SessionCall, faults: Faults): Promise<Page> {
  const after = parseAfter(query.get('after'));
  const { items, end } = await readPage(BANS, (limit) =>
    listBans(deps.db, session.tenant, { room: undefined, subject: undefined, after, limit }),
  );
  const mayModerate = mayDo(session.role, 'moderate');
  const body = html`<h1>Bans</h1>
${
  items.length > 0
    ? table(
        'Bans',
        ['Who', 'Where', 'Since', 'Until', 'Reason', mayModerate && 'Change'],
        items.map(cellsOf),
        { names: 'Who' },
      )
    : emptyState(
        'There are no bans.',
        'A ban keeps a user, a device or a range of addresses out of a room, or of all rooms.',
      )
}
<p class="pages">${after !== undefined && html`<a href="/console/rooms/bans">Newest</a>`}${
    end && html`<a href="/console/rooms/bans?after=${end.id}" rel="next">Older bans</a>`
  }</p>
${mayModerate && renderForm((name) => form.get(name), faults)}`;
  return { title: 'Bans', body };
}

function parseAfter(text: string | undefined): string | undefined {
  if (text !== undefined && !isId('ban', text))
    throw invalidField('after', 'must be that of a page of the console');
  return text;
}

function cellsOf({ subject, room, createdAt, expiresAt, reason, actor }: Ban): HtmlValue[] {
  return [
    html`${KIND_NAMES[subject.kind]} ${named(subject.value)}`,
    room === null ? 'all rooms' : named(room),
    timeOf(createdAt),
    expiresAt ? timeOf(expiresAt) : 'it is lifted',
    html`${reason !== '' && named(reason)}${actor !== null && html` <span class="hint">by ${named(actor)}</span>`}`,
    html`<form class="inline" method="post" action="/console/rooms/bans/lift">
<input type="hidden" name="kind" value="${subject.kind}"><input type="hidden" name="subject" value="${subject.value}">
${room !== null && html`<input type="hidden" name="room" value="${room}">`}<button>Lift<span class="hidden"> the ban of ${subject.value}</span></button></form>`,
  ];
}

function renderForm(typed: (name: string) => string | undefined, faults: Faults): Html {
  return html`<section class="card"><h2>Ban a user, a device or an address</h2>
<form method="post" action="/console/rooms/bans" novalidate>
${select('kind', 'What', KINDS, typed('kind') ?? 'user')}
${field({
  name: 'subject',
  label: 'Name, thumbprint or range',
  value: typed('subject'),
  hint: 'A range looks like 203.0.113.0/24.',
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}
${field({
  name: 'room',
  label: 'Room',
  value: typed('room'),
  hint: 'Empty: all rooms. The ban holds for every later room of this name.',
  faults,
  input: html`autocomplete="off" maxlength="128"`,
})}
${select('time', 'How long', BAN_TIMES, typed('time') ?? 'day', faults)}
${field({
  name: 'reason',
  label: 'Reason',
  value: typed('reason'),
  faults,
  input: html`maxlength="${REASON_LENGTH_MAX}" autocomplete="off"`,
})}
<p><button class="danger">Ban</button></p></form></section>`;
}
