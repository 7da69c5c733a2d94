/** `/console/review`: what a founder keeps of what existed before the address was proved. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { keyChangerOf } from '../../../access/keys/key-changer.ts';
import { ACCESS_KINDS, type AccessKind } from '../../../access/members/other-access.ts';
import type { Tx } from '../../../base/db/pool.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField } from '../../../base/failure.ts';
import { getBilling } from '../../../money/payments/get-billing.ts';
import {
  answerAutoTopUp,
  type Founder,
  keepAccess,
  keepOtherAccess,
  removeAccess,
  removeOtherAccess,
} from '../../../outward/founding/answer-access.ts';
import {
  digestOfAccess,
  listOtherAccess,
  type OtherAccess,
} from '../../../outward/founding/list-other-access.ts';
import { getMailSettings } from '../../../outward/mail/get-mail-settings.ts';
import { type Answer, done, page, redirect } from '../../consoles/answer.ts';
import { dollars, freshNote, named, nameWithId, timeOf } from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/review';

/** The kind `all`: all that is left. `seen`: what was listed, to keep it all; `confirm`: the founder was asked about that. */
export const REVIEW_FIELDS = ['kind', 'id', 'answer', 'seen', 'confirm'] as const;

const CHANGED = 'Nothing is kept: the list has changed meanwhile. Look at it again.';

const KIND_NAMES: Readonly<Record<AccessKind, string>> = {
  key: 'API key',
  device: 'device credential',
  agent: 'key for agents',
  member: 'member',
  webhook: 'webhook',
};

export async function showReview(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  if (!session.mustReview || !session.member) return redirect('/console');
  const { items } = await listOtherAccess(deps.db, session.tenant, session.member.id);
  const title = 'What may stay?';
  const body = html`<h1>${title}</h1>
<p><strong>${named(session.tenantName)}</strong> was signed up with your address before you had proved that it is yours. Keep what you or
your people made. Remove what you do not know: its maker could use the tenant, and your money.</p>
${freshNote(session, 'To answer', PATH)}
${items.length > 0 ? renderItems(call, items) : await renderTopUp(call)}`;
  return page({ title, body });
}

function renderItems({ session }: SessionCall, items: readonly OtherAccess[]): Html {
  return html`${table(
    'Made before',
    ['What', 'Name', 'Made by', 'Made', session.isFresh && 'Answer'],
    items.map((item) => cellsOf(session.member?.id, item)),
    { names: 'Name' },
  )}
${
  session.isFresh &&
  html`<form class="actions" method="post" action="${PATH}"><input type="hidden" name="kind" value="all">
<input type="hidden" name="seen" value="${digestOfAccess(items)}">
<button name="answer" value="keep">Keep all of them</button>
<button class="danger" name="answer" value="remove">Remove all of them</button></form>
<p class="hint">What uses a key or credential stops when it is removed.</p>`
}`;
}

/** Names them once more: each can use the tenant. */
function askBeforeKeeping(items: readonly OtherAccess[], seen: string): Answer {
  const title = `Keep all ${items.length}?`;
  const body = html`<h1>${title}</h1>
<p>Their makers could use the tenant, and your money. Keep them only if you know each one.</p>
<ul>${items.map(({ kind, name, id }) => html`<li>${KIND_NAMES[kind]} ${nameWithId(name, id)}</li>`)}</ul>
<form class="actions" method="post" action="${PATH}"><input type="hidden" name="kind" value="all">
<input type="hidden" name="seen" value="${seen}"><input type="hidden" name="confirm" value="keep-all">
<button class="primary" name="answer" value="keep">Keep all ${items.length}</button> <a class="button" href="${PATH}">Cancel</a></form>`;
  return page({ title, body, layout: 'narrow' });
}

function cellsOf(founder: string | undefined, item: OtherAccess): HtmlValue[] {
  const { kind, id, name, createdAt } = item;
  return [
    KIND_NAMES[kind],
    nameWithId(name, id),
    makerOf(item, founder),
    timeOf(createdAt),
    html`<form class="inline" method="post" action="${PATH}"><input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="id" value="${id}"><button name="answer" value="keep">Keep<span class="hidden"> ${name}</span></button>
<button class="danger" name="answer" value="remove">Remove<span class="hidden"> ${name}</span></button></form>`,
  ];
}

/** Before the proof, nothing but a signup acted as the founder. */
function makerOf({ maker }: OtherAccess, founder: string | undefined): Html {
  if (!maker) return html`not known`;
  if (maker.kind === 'system' || maker.id === founder) return html`the person who signed up`;
  return html`${maker.kind} <code>${maker.id}</code>`;
}

/** Asked last, when nothing is left that could change it. */
async function renderTopUp({ deps, session }: SessionCall): Promise<Html> {
  const { settings } = await getBilling(deps.db, session.tenant);
  const { addresses } = await getMailSettings(deps.db, session.tenant);
  const button = (answer: string, text: string, look = '') =>
    html`<button class="${look}" name="answer" value="${answer}">${text}</button>`;
  return html`<section class="card"><h2>Automatic top-up</h2>
<p>${settings.topUpEnabled ? html`Below ${dollars(settings.topUpBelow)}, the saved card pays ${dollars(settings.topUpAmount)}.` : 'It is off.'}</p>
${
  session.isFresh &&
  html`<form class="actions" method="post" action="${PATH}"><input type="hidden" name="kind" value="top_up">
${
  settings.topUpEnabled
    ? html`${button('keep', 'Keep it')} ${button('remove', 'Turn it off', 'danger')}`
    : button('keep', 'Go on', 'primary')
}</form>`
}</section>
${addresses.length > 0 && html`<p class="hint">Mail about the account also goes to ${addresses.join(', ')}. Afterwards, change that at Mail.</p>`}`;
}

export async function submitReview(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const { member } = session;
  if (!session.mustReview || !member) return redirect('/console');
  const given = form.get('kind');
  const id = form.get('id') ?? '';
  const isKept = form.get('answer') === 'keep';
  if (!isKept && form.get('answer') !== 'remove') throw invalidField('answer', 'must be keep or remove');
  const isOfAll = given === 'all' && isKept;
  const seen = form.get('seen') ?? '';
  if (isOfAll && form.get('confirm') !== 'keep-all') {
    const { items } = await listOtherAccess(deps.db, session.tenant, member.id);
    return digestOfAccess(items) === seen ? askBeforeKeeping(items, seen) : done(PATH, CHANGED);
  }
  const isDone = await inTransaction(deps.db, async (tx) => {
    const founder = { member: member.id, changer: await keyChangerOf(tx, session, address) };
    if (isOfAll) return keepOtherAccess(tx, founder, seen);
    await answerOne(tx, founder, { given, id, isKept });
    return true;
  });
  if (!isDone) return done(PATH, CHANGED);
  deps.events.wake(session.tenant);
  return done(PATH, isOfAll ? 'They stay.' : isKept ? 'It stays.' : 'It is removed.');
}

async function answerOne(
  tx: Tx,
  founder: Founder,
  {
    given,
    id,
    isKept,
  }: { readonly given: string | undefined; readonly id: string; readonly isKept: boolean },
): Promise<void> {
  if (given === 'top_up') return answerAutoTopUp(tx, founder, isKept);
  if (given === 'all') return removeOtherAccess(tx, founder);
  const kind = parseChoice('kind', given, ACCESS_KINDS);
  return isKept ? keepAccess(tx, founder, kind, id) : removeAccess(tx, founder, kind, id);
}
