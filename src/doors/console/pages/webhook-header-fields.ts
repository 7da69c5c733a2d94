/** The fields of headers and Basic authentication, as the forms that create a webhook and change these have them. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../base/failure.ts';
import {
  BASIC_AUTH_LENGTH_MAX,
  OWN_HEADERS_MAX,
  type OwnHeader,
  type OwnHeaders,
} from '../../../outward/webhooks/own-headers.ts';
import { type Faults, field, textArea } from '../../consoles/components.ts';
import type { Form } from '../../http/form.ts';

export const HEADER_FIELDS = ['headers', 'username', 'password'];

/** What an operation that refuses them names. */
export const HEADER_FAULTS = ['headers', 'basic_auth'];

/** Whether something is typed into one of them. */
export function hasHeaderFields(form: Form): boolean {
  return HEADER_FIELDS.some((name) => (form.get(name) ?? '') !== '');
}

/** One header a line. Fails with `invalid_request`. */
export function parseHeaderFields(form: Form): OwnHeaders {
  const lines = (form.get('headers') ?? '').split(/\r?\n/).filter((each) => each.trim() !== '');
  const username = form.get('username') ?? '';
  const password = form.get('password') ?? '';
  return { headers: lines.map(parseHeaderLine), basicAuth: { username, password } };
}

/** Errors do not show the line, which may hold a secret. */
function parseHeaderLine(line: string): OwnHeader {
  const at = line.indexOf(':');
  if (at < 0) throw invalidField('headers', 'must be lines such as x-api-key: value');
  return { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() };
}

export function renderHeaderFields(form: Form, faults: Faults): Html {
  return html`${textArea({
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
})}`;
}
