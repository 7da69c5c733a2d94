/** `/console/webhooks/:id/headers`: what each request of a webhook has besides, for its receiver to let it in. */
import { type Html, html } from '@boxoffice/pages/html';
import { changerOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { changeWebhook } from '../../../outward/webhooks/change-webhook.ts';
import { getWebhook } from '../../../outward/webhooks/get-webhook.ts';
import type { ShownHeaders } from '../../../outward/webhooks/own-headers.ts';
import type { GivenHeaders } from '../../../outward/webhooks/set-own-headers.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { checkbox, type Faults } from '../../consoles/components.ts';
import { faultsOf } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';
import {
  HEADER_FAULTS,
  HEADER_FIELDS,
  parseHeaderFields,
  renderHeaderFields,
} from './webhook-header-fields.ts';

const [KEEP_HEADERS, KEEP_BASIC_AUTH] = ['keep_headers', 'keep_basic_auth'] as const;

export const HEADERS_FIELDS = [...HEADER_FIELDS, KEEP_HEADERS, KEEP_BASIC_AUTH];

const pathOf = ({ params }: SessionCall) => `/console/webhooks/${params.id}`;

export function showHeaders(call: SessionCall): Promise<Answer> {
  return headersPage(call, {});
}

export async function submitHeaders(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address, params } = call;
  try {
    const given = parseGiven(form);
    const changed = await inTransaction(deps.db, (tx) =>
      changeWebhook(tx, deps, changerOf(session, address), params.id ?? '', given),
    );
    deps.events.wake(session.tenant);
    return done(pathOf(call), tell(changed));
  } catch (error) {
    const faults = faultsOf(error, HEADER_FAULTS);
    if (!faults) throw error;
    return headersPage(call, faults, 400);
  }
}

/** What is left empty is removed, unless it is to be kept. Fails with `invalid_request`. */
function parseGiven(form: Form): GivenHeaders {
  const { headers, basicAuth } = parseHeaderFields(form);
  const isAuthEmpty = basicAuth?.username === '' && basicAuth.password === '';
  return {
    ...((headers.length > 0 || !form.has(KEEP_HEADERS)) && { headers }),
    ...((!isAuthEmpty || !form.has(KEEP_BASIC_AUTH)) && { basicAuth }),
  };
}

function tell({ headerNames, hasBasicAuth }: ShownHeaders): string {
  const headers =
    headerNames.length === 0 ? 'no headers of your own' : `the headers ${headerNames.join(', ')}`;
  return `Requests have ${headers} and ${hasBasicAuth ? '' : 'no '}Basic authentication.`;
}

async function headersPage(call: SessionCall, faults: Faults, status = 200): Promise<Answer> {
  const { deps, session, form, params } = call;
  const webhook = await getWebhook(deps.db, session.tenant, params.id ?? '');
  const title = 'Headers and authentication';
  const body = html`<p><a href="${pathOf(call)}">Back to the webhook</a></p><h1>${title}</h1>
<p>Each request has these besides its signature, for a receiver that lets in only what it knows. They are kept sealed, and never shown again.</p>
<form method="post" action="${pathOf(call)}/headers" novalidate>
${renderKept(webhook, form)}
${renderHeaderFields(form, faults)}
<p><button class="primary">Save</button> <a class="button" href="${pathOf(call)}">Cancel</a></p></form>`;
  return page({ title, body, layout: 'narrow' }, status);
}

/** What is set is kept until the box is cleared, or something else is typed. */
function renderKept({ headerNames, hasBasicAuth }: ShownHeaders, form: Form): Html {
  const isKept = (name: string) => form.size === 0 || form.has(name);
  const names = headerNames.map((each) => html` <code>${each}</code>`);
  if (names.length === 0 && !hasBasicAuth) return html`<p>None are set.</p>`;
  return html`${names.length > 0 && checkbox(KEEP_HEADERS, html`Keep the headers${names}`, isKept(KEEP_HEADERS), 'Unless others are typed below. They replace all of these.')}
${hasBasicAuth && checkbox(KEEP_BASIC_AUTH, 'Keep Basic authentication', isKept(KEEP_BASIC_AUTH), 'Unless another one is typed below.')}`;
}
