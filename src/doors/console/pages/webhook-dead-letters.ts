/** `/console/webhooks/:id/dead-letters`: events that a webhook was not sent in the end, and sending them again. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { type DeadLetter, deathOf } from '../../../outward/webhooks/dead-letter.ts';
import { getWebhook } from '../../../outward/webhooks/get-webhook.ts';
import { listDeadLetters } from '../../../outward/webhooks/list-dead-letters.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { badge, codeOf, emptyState, named, timeOf } from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';
import { noSuchPage } from '../../http/no-such-page.ts';
import type { SessionCall } from '../route.ts';
import { resendGivenUp } from './webhook.ts';
import { resendForm } from './webhook-deliveries.ts';
import { addressFor } from './webhooks.ts';

const PAGE_SIZE = 25;
/** Before the first event. */
const EVER = new Date(0);

const pathOf = ({ params }: SessionCall) => `/console/webhooks/${params.id}`;

export async function showDeadLetters(call: SessionCall): Promise<Answer> {
  const { deps, session, params, query } = call;
  const { id = '' } = params;
  const text = query.get('before');
  if (text !== undefined && !/^[1-9]\d{0,17}$/.test(text)) throw noSuchPage();
  const before = text === undefined ? undefined : BigInt(text);
  const webhook = await getWebhook(deps.db, session.tenant, id);
  const found = await listDeadLetters(deps.db, session.tenant, id, { before, size: PAGE_SIZE });
  const body = html`<p><a href="${pathOf(call)}">Back to the webhook</a></p><h1>Events that were given up</h1>
<p>${named(addressFor(session, webhook))} refused them or gave no answer, again and again, and accepted others meanwhile.</p>
${
  found.deadLetters.length === 0
    ? emptyState('Nothing was given up.', 'An event is listed here when its last attempt has failed.')
    : renderList(call, found.deadLetters)
}
<p class="pages">${before !== undefined && html`<a href="${pathOf(call)}/dead-letters">Newest</a>`}${
    found.end !== undefined &&
    html`<a href="${pathOf(call)}/dead-letters?before=${found.end}" rel="next">Older events</a>`
  }</p>`;
  return page({ title: 'Events that were given up', body });
}

function renderList(call: SessionCall, letters: readonly DeadLetter[]): Html {
  const mayChange = mayDo(call.session.role, 'change_webhooks');
  const path = pathOf(call);
  return html`${
    mayChange &&
    html`<form method="post" action="${path}/dead-letters"><p><button>Send all again</button></p></form>`
  }${table(
    'Events that were given up, the newest first',
    ['Event', 'Number', 'Room', 'Happened', 'Attempts', 'Last attempt', 'Given up', mayChange && 'Again'],
    letters.map((each) => [
      codeOf(each.type),
      each.seq,
      each.room === null ? '–' : named(each.room),
      each.happenedAt ? timeOf(each.happenedAt) : 'not kept any more',
      each.attempt,
      renderDeath(each, mayChange),
      timeOf(each.at),
      mayChange && each.happenedAt !== null && resendForm(path, each.seq, each.type),
    ]),
    { numbers: ['Attempts'] },
  )}`;
}

/** What a receiver answers may hold its secrets. */
function renderDeath(letter: DeadLetter, mayChange: boolean): Html {
  const { status, error } = letter;
  const what = deathOf(letter) === 'refused' ? `refused: ${status}` : 'no answer';
  return html`<span>${badge(what, 'bad')}${
    mayChange && error !== null && html` <span class="hint">${named(error)}</span>`
  }</span>`;
}

export async function submitDeadLetters(call: SessionCall): Promise<Answer> {
  const said = await resendGivenUp(call, EVER);
  call.deps.events.wake(call.session.tenant);
  return done(`${pathOf(call)}/dead-letters`, said);
}
