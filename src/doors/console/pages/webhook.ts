/** `/console/webhooks/...`: one webhook: its state, its deliveries, and changes of it. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { actorOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField } from '../../../base/failure.ts';
import { changeWebhook } from '../../../outward/webhooks/change-webhook.ts';
import { checkWebhookUrl } from '../../../outward/webhooks/check-webhook-url.ts';
import { deleteWebhook } from '../../../outward/webhooks/delete-webhook.ts';
import { findPublicKeys } from '../../../outward/webhooks/find-public-keys.ts';
import { getWebhook } from '../../../outward/webhooks/get-webhook.ts';
import { resendFailed } from '../../../outward/webhooks/resend-failed.ts';
import { resendSince } from '../../../outward/webhooks/resend-since.ts';
import { rotateSecret } from '../../../outward/webhooks/rotate-secret.ts';
import { resendEvent, testWebhook } from '../../../outward/webhooks/send-now.ts';
import type { Webhook } from '../../../outward/webhooks/webhook.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import {
  countOf,
  type Faults,
  field,
  formId,
  freshNote,
  named,
  select,
  timeOf,
} from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { faultsOf } from '../../consoles/read-fields.ts';
import { asideText, givenUpText, renderDeliveries, stateOf } from '../../consoles/webhooks-table.ts';
import { parseTime } from '../../http/period.ts';
import { mutationOf, onceForForm } from '../once-for-form.ts';
import { parseOverlap, rotationForm } from '../rotation.ts';
import type { SessionCall } from '../route.ts';
import { keepOutcome, type Outcome, renderOutcome, resendForm } from './webhook-deliveries.ts';
import {
  parseWebhook,
  renderWebhookFields,
  type TypedWebhook,
  typedOf,
  typedWebhook,
} from './webhook-form.ts';
import { addressFor, type ShownSecret, secretPage } from './webhooks.ts';

const idOf = ({ params }: SessionCall) => params.id ?? '';
const pathOf = (call: SessionCall) => `/console/webhooks/${idOf(call)}`;

function changerOf({ session, address }: SessionCall) {
  return { tenant: session.tenant, actor: actorOf(session, address) };
}

export async function showWebhook(call: SessionCall): Promise<Answer> {
  const { form } = call;
  return webhookPage(call, form.has('url') ? { typed: typedWebhook(form) } : {});
}

export async function submitWebhookChange(call: SessionCall): Promise<Answer> {
  const { deps, form } = call;
  try {
    const { url } = await getWebhook(deps.db, call.session.tenant, idOf(call));
    const wanted = parseWebhook(form, deps.config.webhookNetworks, url);
    await checkWebhookUrl(deps, wanted.url, url);
    await inTransaction(deps.db, (tx) => changeWebhook(tx, deps, changerOf(call), idOf(call), wanted));
  } catch (error) {
    const faults = faultsOf(error, ['url']);
    if (!faults) throw error;
    return webhookPage(call, { typed: typedWebhook(form), faults }, 400);
  }
  return changed(call, 'The webhook is changed.');
}

export async function submitPause(call: SessionCall): Promise<Answer> {
  await pause(call, true);
  return changed(call, 'The webhook is paused. Its events wait.');
}

export async function submitResumption(call: SessionCall): Promise<Answer> {
  await pause(call, false);
  return changed(call, 'The webhook goes on.');
}

async function pause(call: SessionCall, paused: boolean): Promise<void> {
  const { deps } = call;
  await inTransaction(deps.db, (tx) => changeWebhook(tx, deps, changerOf(call), idOf(call), { paused }));
}

/** What waits is delivered at once. */
function changed(call: SessionCall, what: string): Answer {
  call.deps.events.wake(call.session.tenant);
  return done(pathOf(call), what);
}

export async function submitSecretRotation(call: SessionCall): Promise<Answer> {
  const overlapSeconds = parseOverlap(call.form);
  const shown = await onceForForm<ShownSecret>(call, async (tx) => {
    const rotated = await rotateSecret(tx, call.deps, changerOf(call), idOf(call), overlapSeconds);
    return { id: rotated.webhook.id, secret: rotated.secret, publicKey: rotated.publicKey };
  });
  return page(secretPage('The secret is replaced', shown));
}

export async function showWebhookDeletion(call: SessionCall): Promise<Answer> {
  const { url } = await getWebhook(call.deps.db, call.session.tenant, idOf(call));
  const body = html`<h1>Delete the webhook</h1>
<p>${named(url)} gets no more events. Events that wait for it are not delivered, and its secret is gone.</p>
<form method="post" action="${pathOf(call)}/delete">
<p class="actions"><button class="danger">Delete the webhook</button> <a class="button" href="${pathOf(call)}">Cancel</a></p></form>`;
  return page({ title: 'Delete a webhook', body, layout: 'narrow' });
}

export async function submitWebhookDeletion(call: SessionCall): Promise<Answer> {
  await inTransaction(call.deps.db, (tx) => deleteWebhook(tx, changerOf(call), idOf(call)));
  return done('/console/webhooks', 'The webhook is deleted.');
}

export async function submitTest(call: SessionCall): Promise<Answer> {
  const text = await testWebhook(call.deps, mutationOf(call), idOf(call), keepOutcome);
  return webhookPage(call, { outcome: JSON.parse(text) as Outcome });
}

export async function submitResend(call: SessionCall): Promise<Answer> {
  const seq = call.form.get('seq') ?? '';
  if (!/^[1-9]\d{0,17}$/.test(seq)) throw invalidField('seq', 'must be the number of an event');
  const text = await resendEvent(call.deps, mutationOf(call), idOf(call), BigInt(seq), keepOutcome);
  return webhookPage(call, { outcome: JSON.parse(text) as Outcome });
}

export async function submitResendSince(call: SessionCall): Promise<Answer> {
  const day = (call.form.get('since') ?? '').trim();
  const since = /^\d{4}-\d{2}-\d{2}$/.test(day) ? parseTime('since', day) : undefined;
  if (!since) return webhookPage(call, { faults: { since: 'Choose a day.' } }, 400);
  const what = parseChoice('what', call.form.get('what') ?? 'all', ['all', 'failed']);
  if (what === 'failed') return changed(call, await resendGivenUp(call, since));
  await call.deps.resendLimit.count(call.session);
  await inTransaction(call.deps.db, (tx) => resendSince(tx, changerOf(call), idOf(call), since));
  return changed(call, `What happened since ${day} is sent again.`);
}

/** Returns what to say of it. */
export async function resendGivenUp(call: SessionCall, since: Date): Promise<string> {
  await call.deps.resendLimit.count(call.session);
  const { resent, hasMore } = await inTransaction(call.deps.db, (tx) =>
    resendFailed(tx, changerOf(call), idOf(call), since),
  );
  const rest = hasMore ? ' No more fit at once: send the others again later.' : '';
  return `${countOf(resent, 'event')} that ${resent === 1 ? 'was' : 'were'} given up ${
    resent === 1 ? 'is' : 'are'
  } sent again.${rest}`;
}

interface Shown {
  /** What was typed into the form that changes it. */
  readonly typed?: TypedWebhook;
  readonly faults?: Faults;
  /** What became of the event that was just sent. */
  readonly outcome?: Outcome;
}

async function webhookPage(
  call: SessionCall,
  { typed, faults = {}, outcome }: Shown,
  status = 200,
): Promise<Answer> {
  const { deps, session } = call;
  const webhook = await getWebhook(deps.db, session.tenant, idOf(call));
  const mayChange = mayDo(session.role, 'change_webhooks');
  const path = pathOf(call);
  const again = (seq: bigint, type: string) => resendForm(path, seq, type);
  const { eventDays: keptDays } = deps.config;
  const site = { path, keptDays, hasDetails: true, showsAnswers: mayChange, ...(mayChange && { again }) };
  const body = html`<h1>Webhook</h1>
${outcome && renderOutcome(outcome)}
<section class="card"><p class="label">Address</p><p>${named(addressFor(session, webhook))}</p>
<p>${stateOf(webhook)} ${webhook.pausedAt && html`since ${timeOf(webhook.pausedAt)}`}</p>
<p class="hint">Everything up to the event ${webhook.seq} is delivered${
    webhook.waiting > 0 && html`, but for ${asideText(webhook)}`
  }. Created ${timeOf(webhook.createdAt)}. <code>${webhook.id}</code></p>
${mayChange && renderActions(call, webhook)}</section>
${await renderVerification(call, webhook)}
<h2>Deliveries</h2>
${await renderDeliveries({ db: deps.db, tenant: session.tenant, query: call.query }, webhook, site)}
<p><a href="${path}/dead-letters">Events that were given up</a>: ${givenUpText(webhook)}</p>
${mayChange && renderResendSince(call, faults)}
${mayChange && freshNote(session, 'To change the webhook', pathOf(call))}
${mayChange && session.isFresh && renderChanges(call, typed ?? typedOf(webhook), faults)}`;
  return page({ title: 'Webhook', body }, status);
}

/** What verifies its requests, without a secret. */
async function renderVerification({ deps, session }: SessionCall, { id }: Webhook): Promise<Html> {
  const keys = (await findPublicKeys(deps, deps.db, session.tenant, [id])).get(id)!;
  return html`<section class="card"><p class="label">Public keys: verify the signatures v1a</p>
${keys.map((each) => html`<p><code>${each}</code></p>`)}</section>`;
}

function renderActions(call: SessionCall, { pausedBy }: Webhook): Html {
  const path = pathOf(call);
  return html`<div class="actions">
<form class="inline" method="post" action="${path}/test">${formId()}<button>Send a test event</button></form>
${
  pausedBy === null
    ? html`<form class="inline" method="post" action="${path}/pause"><button>Pause</button></form>`
    : html`<form class="inline" method="post" action="${path}/resume"><button class="primary">Resume</button></form>`
}</div>`;
}

const RESENT = [
  { value: 'all', text: 'Everything that happened' },
  { value: 'failed', text: 'Only what was given up' },
];

function renderResendSince(call: SessionCall, faults: Faults): Html {
  return html`<section class="card"><h2>Deliver again since a day</h2>
<form method="post" action="${pathOf(call)}/resend-since" novalidate>
${field({
  name: 'since',
  label: 'From the start of the day (UTC)',
  value: call.form.get('since'),
  hint: 'Everything comes again in the order of the webhook. What was given up comes before what is new.',
  faults,
  input: html`type="date" required`,
})}
${select('what', 'What', RESENT, call.form.get('what') ?? 'all', faults)}
<p><button>Deliver again</button></p></form></section>`;
}

function renderChanges(call: SessionCall, typed: TypedWebhook, faults: Faults): Html {
  const path = pathOf(call);
  return html`<section class="card"><h2>Change the webhook</h2><form method="post" action="${path}" novalidate>
${renderWebhookFields(typed, faults)}
<p><button class="primary">Save</button></p></form></section>
<section class="card"><h2>Replace the secret</h2>${rotationForm(`${path}/rotate`, 'secret', 'the secret')}</section>
<p><a class="button" href="${path}/headers">Headers and authentication</a>
<a class="button danger" href="${path}/delete">Delete the webhook</a></p>`;
}
