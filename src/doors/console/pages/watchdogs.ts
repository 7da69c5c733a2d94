/** `/console/rooms/watchdogs`: timers that end or empty rooms. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { Failure, invalidField } from '../../../base/failure.ts';
import { isId } from '../../../base/lib/ids.ts';
import { readPageToken, renderPageToken } from '../../../base/lib/page-token.ts';
import { createWatchdog } from '../../../control/watchdogs/create-watchdog.ts';
import { deleteWatchdog } from '../../../control/watchdogs/delete-watchdog.ts';
import { listWatchdogs } from '../../../control/watchdogs/list-watchdogs.ts';
import { goesWith, warnsInTime } from '../../../control/watchdogs/refuse-impossible.ts';
import {
  CONDITION_WORDS,
  DURATION_MS_MAX,
  WATCHDOG_ACTION_WORDS,
  WATCHDOG_ACTIONS,
  WATCHDOG_CONDITIONS,
  type Watchdog,
  type WatchdogPosition,
  type WatchdogRule,
  type WatchdogState,
} from '../../../control/watchdogs/watchdog.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import {
  badge,
  countDownTo,
  emptyState,
  type Faults,
  field,
  named,
  select,
  timeOf,
  timeOfMs,
} from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { faultsOf, orWrong, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import { moderate, parseRoomName } from '../moderation.ts';
import type { SessionCall } from '../route.ts';
import { pathOf } from './room-desk.ts';

const WATCHDOGS = 50;
const MINUTE_MS = 60_000;
const WRONG_ACTION = 'This action does not go with this condition.';
const WRONG_WARNING = 'Warn sooner than it fires.';

const STATE_LOOKS = { armed: 'good', warned: 'warn', fired: 'bad', disarmed: '' } as const satisfies Record<
  WatchdogState,
  string
>;

export async function showWatchdogs(call: SessionCall): Promise<Answer> {
  return page(await watchdogsPage(call, {}));
}

export async function submitWatchdog(call: SessionCall): Promise<Answer> {
  try {
    const { room, rule } = readFields({
      room: () => parseRoomName(call.form.get('room')),
      rule: () => parseRule(call.form),
    });
    await moderate(call, (tx, moderator) => createWatchdog(tx, moderator, { room, rule, actor: undefined }));
  } catch (error) {
    const faults = faultOfRoom(error) ?? faultsOf(error);
    if (!faults) throw error;
    return page(await watchdogsPage(call, faults), 400);
  }
  return done('/console/rooms/watchdogs', 'The watchdog is set.');
}

function faultOfRoom(error: unknown): Faults | undefined {
  if (!(error instanceof Failure)) return undefined;
  if (error.resource === 'room') return { room: 'No room ever had this name.' };
  return error.kind === 'room_ended' ? { room: 'This room has ended.' } : undefined;
}

export async function submitWatchdogDeletion(call: SessionCall): Promise<Answer> {
  const id = call.params.id ?? '';
  await moderate(call, (tx, moderator) => deleteWatchdog(tx, moderator, { id, actor: undefined }));
  return done('/console/rooms/watchdogs', 'The watchdog is deleted.');
}

function parseRule(form: Form): WatchdogRule {
  const { minutes, warning, ...read } = readFields(
    {
      condition: () => parseChoice('condition', form.get('condition'), WATCHDOG_CONDITIONS),
      minutes: () => parseMinutes('minutes', form.get('minutes'), 1),
      action: () => parseChoice('action', form.get('action'), WATCHDOG_ACTIONS),
      warning: () => parseMinutes('warning', form.get('warning') || '0', 0),
    },
    {
      action: ({ condition, action }) =>
        orWrong(!condition || !action || goesWith({ condition, action }), WRONG_ACTION),
      warning: ({ minutes: durationMs, warning: warnBeforeMs = 0 }) =>
        orWrong(!durationMs || warnsInTime({ durationMs, warnBeforeMs }), WRONG_WARNING),
    },
  );
  return { ...read, durationMs: minutes, warnBeforeMs: warning };
}

/** In milliseconds. */
function parseMinutes(name: string, text: string | undefined, least: number): number {
  const most = DURATION_MS_MAX / MINUTE_MS;
  const minutes = /^\d{1,6}$/.test(text?.trim() ?? '') ? Number(text) : -1;
  if (minutes < least || minutes > most)
    throw invalidField(name, `must be ${least} to ${most} whole minutes`);
  return minutes * MINUTE_MS;
}

async function watchdogsPage({ deps, session, query, form }: SessionCall, faults: Faults): Promise<Page> {
  const after = parsePosition(query.get('after'));
  const asked = { room: undefined, after, size: WATCHDOGS, actor: undefined };
  const { watchdogs, end } = await listWatchdogs(deps.db, session.tenant, asked);
  const mayModerate = mayDo(session.role, 'moderate');
  const body = html`<h1>Watchdogs</h1>
${
  watchdogs.length > 0
    ? table('Watchdogs', ['Room', 'If', 'Then', 'State', mayModerate && 'Change'], watchdogs.map(cellsOf), {
        names: 'Room',
      })
    : emptyState(
        'There are no watchdogs.',
        'A watchdog ends a room that was forgotten, before it costs money all night.',
      )
}
<p class="pages">${after && html`<a href="/console/rooms/watchdogs">Newest</a>`}${
    end &&
    html`<a href="/console/rooms/watchdogs?after=${renderPageToken([end.createdMicros, end.id])}" rel="next">Older watchdogs</a>`
  }</p>
${mayModerate && renderForm((name) => form.get(name), faults)}`;
  return { title: 'Watchdogs', body };
}

function parsePosition(text: string | undefined): WatchdogPosition | undefined {
  if (text === undefined) return undefined;
  const [createdMicros = '', id = ''] = readPageToken(text) ?? [];
  if (!/^\d{1,16}$/.test(createdMicros) || !isId('wd', id))
    throw invalidField('after', 'must be that of a page of the console');
  return { createdMicros, id };
}

function cellsOf(watchdog: Watchdog): HtmlValue[] {
  const { id, room, condition, durationMs, action, warnBeforeMs, state, deadline, firedAt } = watchdog;
  return [
    html`<a href="${pathOf(room)}">${named(room)}</a>`,
    html`${CONDITION_WORDS[condition]} ${timeOfMs(durationMs)}`,
    html`${WATCHDOG_ACTION_WORDS[action]}${warnBeforeMs > 0 && html` <span class="hint">warns ${timeOfMs(warnBeforeMs)} before</span>`}`,
    html`${badge(state, STATE_LOOKS[state])} ${firedAt ? timeOf(firedAt) : deadline && countDownTo(deadline)}`,
    state !== 'fired' &&
      html`<form class="inline" method="post" action="/console/rooms/watchdogs/${id}/delete">
<button class="danger">Delete<span class="hidden"> the watchdog of ${room}: ${CONDITION_WORDS[condition]}</span></button></form>`,
  ];
}

function renderForm(typed: (name: string) => string | undefined, faults: Faults): Html {
  const conditions = WATCHDOG_CONDITIONS.map((value) => ({ value, text: CONDITION_WORDS[value] }));
  const actions = WATCHDOG_ACTIONS.map((value) => ({ value, text: WATCHDOG_ACTION_WORDS[value] }));
  return html`<section class="card"><h2>Set a watchdog</h2>
<form method="post" action="/console/rooms/watchdogs" novalidate>
${field({
  name: 'room',
  label: 'Room',
  value: typed('room'),
  hint: 'The name of a live room.',
  faults,
  input: html`autocomplete="off" autocapitalize="none" maxlength="128" required`,
})}
${select('condition', 'If', conditions, typed('condition') ?? 'empty_for', faults)}
${field({
  name: 'minutes',
  label: 'Minutes',
  value: typed('minutes') ?? '10',
  faults,
  input: html`inputmode="numeric" autocomplete="off" required`,
})}
${select('action', 'Then', actions, typed('action') ?? 'end_room', faults)}
${field({
  name: 'warning',
  label: 'Warn so many minutes before',
  value: typed('warning'),
  hint: 'Empty: no warning. Events and webhooks tell of it.',
  faults,
  input: html`inputmode="numeric" autocomplete="off"`,
})}
<p><button class="primary">Set</button></p></form></section>`;
}
