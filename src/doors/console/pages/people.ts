/** `/console/people`: what is stored about a person, and how to erase it. */
import { type Html, html } from '@boxoffice/pages/html';
import { actorOf } from '../../../access/sessions/session.ts';
import { prepareUsername } from '../../../access/usernames/username.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { Failure } from '../../../base/failure.ts';
import type { Ban } from '../../../control/bans/ban.ts';
import { listBans } from '../../../control/moderation/list-bans.ts';
import { listModerationEvents } from '../../../control/moderation/list-moderation-events.ts';
import type { ModerationEvent } from '../../../control/moderation/moderation-event.ts';
import type { Erasure } from '../../../control/people/erasure.ts';
import { getErasure } from '../../../control/people/get-erasure.ts';
import { listErasures } from '../../../control/people/list-erasures.ts';
import { parsePersonName } from '../../../control/people/person.ts';
import { requestErasure } from '../../../control/people/request-erasure.ts';
import { RECORD_TEXT_MAX } from '../../../money/ledger/posting.ts';
import { type Answer, done, type Page, page } from '../../consoles/answer.ts';
import { badge, type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { parseConfirm } from '../../consoles/fields.ts';
import { sentence } from '../../consoles/notices.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { renderActs } from './room-feed.ts';

const ERASURES = 20;
const ACTS = 500;
const ACTS_SHOWN = 20;
/** What must be typed to erase a person. */
const ERASE = 'erase';

export async function showPeople(call: SessionCall): Promise<Answer> {
  return page(await peoplePage(call, call.form.get('participant') ?? call.query.get('name'), {}));
}

export async function submitErasure(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const given = form.get('participant') ?? '';
  try {
    readFields({
      participant: () => parsePersonName(given),
      confirm: () => parseConfirm(form, ERASE),
    });
    const erasure = await inTransaction(deps.db, (tx) =>
      requestErasure(tx, actorOf(session, address), session.tenant, given),
    );
    deps.events.wake(session.tenant);
    return done(`/console/people/erasures/${erasure.id}`, 'The erasure has begun.');
  } catch (error) {
    if (error instanceof Failure && error.kind === 'participant_present')
      return page(await peoplePage(call, given, { participant: sentence(error) }), 409);
    const faults = faultsOf(error);
    if (!faults) throw error;
    return page(await peoplePage(call, given, faults), 400);
  }
}

export async function showErasure({ deps, session, params }: SessionCall): Promise<Answer> {
  const erasure = await getErasure(deps.db, session.tenant, params.id ?? '');
  const isDone = erasure.state === 'done';
  const again = `/console/people/erasures/${erasure.id}`;
  const body = html`<h1>An erasure</h1>
<div id="erasure"${!isDone && html` data-again="${again}"`}><p role="status">${
    isDone
      ? html`${badge('done', 'good')} Nothing that is stored shows the name any more.`
      : html`${badge('pending', 'warn')} It is under way. This page notices by itself when it is done.`
  }</p>
<p>${erasure.records} usage records and ${erasure.others} other rows have lost the name. Asked for ${timeOf(erasure.createdAt)}${
    erasure.finishedAt && html`, done ${timeOf(erasure.finishedAt)}`
  }.</p></div>
<p><a href="/console/people">Back to people</a></p>`;
  return page({ title: 'An erasure', body, layout: 'narrow', ...(!isDone && { reloadSeconds: 5 }) });
}

/** What the tenant's moderators and bans say of a person. */
interface Stored {
  readonly acts: readonly ModerationEvent[];
  readonly bans: readonly Ban[];
}

async function findStored({ deps, session }: SessionCall, name: string): Promise<Stored> {
  const username = prepareUsername(name);
  if (username === undefined) return { acts: [], bans: [] };
  const subject = { kind: 'user', value: username } as const;
  const { tenant } = session;
  const acted = { room: undefined, username, before: undefined, limit: ACTS };
  const acts = await listModerationEvents(deps.db, tenant, acted);
  const bans = await listBans(deps.db, tenant, { room: undefined, subject, after: undefined, limit: ACTS });
  return { acts, bans };
}

/** For the person, who may ask for it. Usage is in the ledger, which has a filter by participant. */
export async function sendPerson(call: SessionCall): Promise<Answer> {
  const name = parsePersonName(call.query.get('name') ?? '');
  const { acts, bans } = await findStored(call, name);
  const body = {
    participant: name,
    moderation: acts.map(({ at, action, room, tracks, reason, expiresAt }) => ({
      at,
      action,
      room,
      tracks,
      reason,
      expires_at: expiresAt,
    })),
    bans: bans.map(({ createdAt, room, reason, expiresAt }) => ({
      created_at: createdAt,
      room,
      reason,
      expires_at: expiresAt,
    })),
  };
  return {
    kind: 'file',
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(body, undefined, 2),
    saveAs: 'person.json',
  };
}

async function peoplePage(call: SessionCall, name: string | undefined, faults: Faults): Promise<Page> {
  const { deps, session } = call;
  const person = name === undefined || name === '' ? undefined : name;
  const isName = person !== undefined && [...person].length <= RECORD_TEXT_MAX;
  const stored = isName ? await findStored(call, person) : undefined;
  const erasures = await listErasures(deps.db, session.tenant, ERASURES);
  const body = html`<h1>People</h1>
<form class="filters" method="get" action="/console/people">
${field({
  name: 'name',
  label: 'Name of a participant',
  value: person,
  input: html`maxlength="${RECORD_TEXT_MAX}" autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}<button>Look</button></form>
${stored && (await renderStored(call, person!, stored))}
${renderErase(person, session.isFresh, faults)}
${erasures.length > 0 && renderErasures(erasures)}`;
  return { title: 'People', body };
}

async function renderStored(call: SessionCall, name: string, { acts, bans }: Stored): Promise<Html> {
  const query = encodeURIComponent(name);
  return html`<section class="card"><h2>${named(name)}</h2>
<p class="actions"><a class="button" href="/console/ledger?participant=${query}">Usage in the ledger</a>
<a class="button" href="/console/people/export?name=${query}">Download moderation and bans as JSON</a></p>
<p>${bans.length > 0 ? html`${badge('banned', 'bad')} <a href="/console/rooms/bans">See the bans</a>` : 'Not banned.'}</p>
${
  acts.length > 0
    ? await renderActs(call, acts.slice(0, ACTS_SHOWN))
    : html`<p>No moderator ever did anything about this name.</p>`
}</section>`;
}

function renderErase(name: string | undefined, isFresh: boolean, faults: Faults): Html {
  const about = html`<p>The name goes from usage, events, moderation and bans. Amounts stay. It cannot be undone.</p>`;
  if (!isFresh) {
    return html`<section class="card"><h2>Erase a person</h2>${about}
<p class="note">To erase a person, <a href="/console/confirm?next=/console/people">log in again</a>.</p></section>`;
  }
  return html`<section class="card"><h2>Erase a person</h2>${about}
<form method="post" action="/console/people/erase" novalidate>
${field({
  name: 'participant',
  label: 'Name, as usage records and tokens have it',
  value: name,
  faults,
  input: html`maxlength="${RECORD_TEXT_MAX}" autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}
${field({
  name: 'confirm',
  label: html`Type <code>${ERASE}</code> to confirm`,
  faults,
  input: html`autocomplete="off" autocapitalize="none" spellcheck="false" required`,
})}
<p><button class="danger">Erase</button></p></form></section>`;
}

function renderErasures(erasures: readonly Erasure[]): Html {
  return html`<h2>Newest erasures</h2>${table(
    'Newest erasures',
    ['Asked for', 'Id', 'State', 'Records'],
    erasures.map(({ id, state, records, createdAt }) => [
      timeOf(createdAt),
      html`<a href="/console/people/erasures/${id}"><code>${id}</code></a>`,
      badge(state, state === 'done' ? 'good' : 'warn'),
      records,
    ]),
    { numbers: ['Records'], names: 'Id' },
  )}`;
}
