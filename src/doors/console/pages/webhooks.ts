/** `/console/webhooks`: endpoints that get the events of the tenant. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { changerOf, type Session } from '../../../access/sessions/session.ts';
import { checkWebhookUrl } from '../../../outward/webhooks/check-webhook-url.ts';
import { createWebhook } from '../../../outward/webhooks/create-webhook.ts';
import { listWebhooks } from '../../../outward/webhooks/get-webhook.ts';
import { WEBHOOKS_MAX, type Webhook } from '../../../outward/webhooks/webhook.ts';
import { type Answer, type Page, page } from '../../consoles/answer.ts';
import { emptyState, type Faults, formId, freshNote, secretBox } from '../../consoles/components.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { hostOf, webhooksTable } from '../../consoles/webhooks-table.ts';
import type { Form } from '../../http/form.ts';
import { onceForForm } from '../once-for-form.ts';
import type { SessionCall } from '../route.ts';
import { parseWebhook, renderWebhookFields, type TypedWebhook, typedWebhook } from './webhook-form.ts';
import {
  HEADER_FAULTS,
  hasHeaderFields,
  parseHeaderFields,
  renderHeaderFields,
} from './webhook-header-fields.ts';

export async function showWebhooks(call: SessionCall): Promise<Answer> {
  return webhooksPage(call, typedWebhook(call.form), {});
}

export async function submitWebhook(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const by = changerOf(session, address);
  try {
    const { settings, headers } = readFields({
      settings: () => parseWebhook(form, deps.config.webhookNetworks),
      headers: () => parseHeaderFields(form),
    });
    const wanted = { ...settings, ...(hasHeaderFields(form) && headers) };
    await checkWebhookUrl(deps, wanted.url);
    const shown = await onceForForm<ShownSecret>(call, async (tx) => {
      const { webhook, secret, publicKey } = await createWebhook(tx, deps, by, wanted);
      return { id: webhook.id, secret, publicKey };
    });
    return page(secretPage('The webhook is created', shown));
  } catch (error) {
    const faults = faultsOf(error, ['url', ...HEADER_FAULTS]);
    if (!faults) throw error;
    return webhooksPage(call, typedWebhook(form), faults, 400);
  }
}

export interface ShownSecret {
  /** The id of the webhook. */
  readonly id: string;
  readonly secret: string;
  readonly publicKey: string;
}

export function secretPage(title: string, { id, secret, publicKey }: ShownSecret): Page {
  const body = html`<h1>${title}</h1>
<p class="note"><strong>The secret is shown this once.</strong> Copy it now: nothing can show it again.</p>
<section class="card">${secretBox('secret', 'Secret: verifies the signatures v1', secret)}</section>
<section class="card">${secretBox('public-key', 'Public key: verifies the signatures v1a', publicKey)}</section>
<p><a class="button" href="/console/webhooks/${id}">To the webhook</a></p>`;
  return { title, body, layout: 'narrow' };
}

async function webhooksPage(
  { deps, session, form }: SessionCall,
  typed: TypedWebhook,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  const webhooks = await listWebhooks(deps.db, session.tenant);
  const mayChange = mayDo(session.role, 'change_webhooks');
  const body = html`<h1>Webhooks</h1>
${mayChange && freshNote(session, 'To create a webhook', '/console/webhooks')}
${
  webhooks.length === 0
    ? emptyState(
        'You have no webhooks yet.',
        'One gets each event as a signed request: a spent balance, a new participant, a failed payment.',
      )
    : webhooksTable('/console/webhooks', webhooks, (each) => addressFor(session, each))
}
${renderEgress(deps.config.webhookEgress)}
${
  mayChange &&
  session.isFresh &&
  webhooks.length < WEBHOOKS_MAX &&
  html`<section class="card"><h2>Create a webhook</h2><form method="post" action="/console/webhooks" novalidate>${formId()}
${renderWebhookFields(typed, faults)}
${renderHeaders(form, faults)}
<p><button class="primary">Create</button></p></form></section>`
}`;
  return page({ title: 'Webhooks', body }, status);
}

/** Few receivers want any. */
function renderHeaders(form: Form, faults: Faults): Html {
  const isOpen = hasHeaderFields(form) || HEADER_FAULTS.some((name) => faults[name] !== undefined);
  return html`<details${isOpen && html` open`}><summary>Headers and authentication</summary>
<p class="hint">For a receiver that lets in only what it knows. They are kept sealed, and never shown again.</p>
${renderHeaderFields(form, faults)}</details>`;
}

/** For the firewalls of receivers. */
function renderEgress(addresses: readonly string[]): Html | undefined {
  if (addresses.length === 0) return undefined;
  return html`<section class="card"><p class="label">Requests come from</p>
${addresses.map((each) => html`<p><code>${each}</code></p>`)}</section>`;
}

/** People who may not change the address see its host alone. */
export function addressFor({ role }: Pick<Session, 'role'>, { url }: Pick<Webhook, 'url'>): string {
  return mayDo(role, 'change_webhooks') ? url : hostOf({ url });
}
