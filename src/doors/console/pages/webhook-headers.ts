/** `/console/webhooks/:id/headers`: what each request of a webhook has besides, for its receiver to let it in. */
import { type Html, html } from '@boxoffice/pages/html';
import { changerOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { invalidField } from '../../../base/failure.ts';
import { changeWebhook } from '../../../outward/webhooks/change-webhook.ts';
import { getWebhook } from '../../../outward/webhooks/get-webhook.ts';
import {
  BASIC_AUTH_LENGTH_MAX,
  OWN_HEADERS_MAX,
  type OwnHeader,
  type ShownHeaders,
} from '../../../outward/webhooks/own-headers.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { type Faults, field, textArea } from '../../consoles/components.ts';
import { faultsOf } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';

export const HEADERS_FIELDS = ['headers', 'username', 'password'];

const pathOf = ({ params }: SessionCall) => `/console/webhooks/${params.id}`;

export function showHeaders(call: SessionCall): Promise<Answer> {
  return headersPage(call, {});
}

export async function submitHeaders(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address, params } = call;
  try {
    const given = parseHeaders(form);
    await inTransaction(deps.db, (tx) =>
      changeWebhook(tx, deps, changerOf(session, address), params.id ?? '', given),
    );
  } catch (error) {
    const faults = faultsOf(error, ['headers', 'basic_auth']);
    if (!faults) throw error;
    return headersPage(call, faults, 400);
  }
  deps.events.wake(session.tenant);
  return done(pathOf(call), 'The headers are replaced.');
}

/** One header a line. Fails with `invalid_request`. */
function parseHeaders(form: Form) {
  const lines = (form.get('headers') ?? '').split(/\r?\n/).filter((each) => each.trim() !== '');
  const username = form.get('username') ?? '';
  const password = form.get('password') ?? '';
  return { headers: lines.map(parseLine), basicAuth: { username, password } };
}

/** Errors do not show the line, which may hold a secret. */
function parseLine(line: string): OwnHeader {
  const at = line.indexOf(':');
  if (at < 0) throw invalidField('headers', 'must be lines such as x-api-key: value');
  return { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() };
}

async function headersPage(call: SessionCall, faults: Faults, status = 200): Promise<Answer> {
  const { deps, session, form, params } = call;
  const webhook = await getWebhook(deps.db, session.tenant, params.id ?? '');
  const title = 'Headers and authentication';
  const body = html`<p><a href="${pathOf(call)}">Back to the webhook</a></p><h1>${title}</h1>
<p>Each request has these besides its signature, for a receiver that lets in only what it knows. They are kept sealed, and never shown again.</p>
<p>${renderShown(webhook)}</p>
<form method="post" action="${pathOf(call)}/headers" novalidate>
${textArea({
  name: 'headers',
  label: 'Headers',
  value: form.get('headers'),
  hint: html`One a line, at most ${OWN_HEADERS_MAX}, such as <code>x-api-key: value</code>.`,
  faults,
  input: html`rows="4" autocomplete="off" spellcheck="false"`,
})}
${field({
  name: 'username',
  label: 'User name of Basic authentication',
  value: form.get('username'),
  faults: { ...(faults.basic_auth !== undefined && { username: faults.basic_auth }) },
  input: html`maxlength="${BASIC_AUTH_LENGTH_MAX}" autocomplete="off" spellcheck="false"`,
})}
${field({
  name: 'password',
  label: 'Password of Basic authentication',
  input: html`type="password" maxlength="${BASIC_AUTH_LENGTH_MAX}" autocomplete="new-password"`,
})}
<p><button class="primary">Replace all</button> <a class="button" href="${pathOf(call)}">Cancel</a></p></form>`;
  return page({ title, body, layout: 'narrow' }, status);
}

export function renderShown({ headerNames, hasBasicAuth }: ShownHeaders): Html {
  if (headerNames.length === 0 && !hasBasicAuth) return html`There are none.`;
  const names = headerNames.map((each) => html`<code>${each}</code> `);
  return html`Set: ${names}${hasBasicAuth && 'Basic authentication'}. What you leave empty is removed.`;
}
