/** The form that asks for a passkey. Only the script shows it, in a browser that knows passkeys. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { type Availability, passkeysAt } from '../../access/passkeys/passkey.ts';
import { PASSKEYS_ASSET } from '../consoles/assets/assets.ts';

/** What a page with such a form loads. */
export const PASSKEY_SCRIPT = PASSKEYS_ASSET.path;

/** `create`: the authenticator makes one. `get`: it signs with one. */
export function passkeyForm(
  does: 'create' | 'get',
  { action, fields, button }: { readonly action: string; readonly fields: HtmlValue; readonly button: Html },
): Html {
  return html`<form method="post" action="${action}" data-passkey="${does}" data-options="${action}/options" hidden>
<input type="hidden" name="answer" value="">${fields}
<p class="alert" role="alert" hidden></p>
<p>${button}</p></form>`;
}

/** To log in at this address, and go on at `next`; `undefined` where there are no passkeys. */
export function passkeyLoginForm(publicUrl: string, next: string): Html | undefined {
  if (!passkeysAt(publicUrl).party) return undefined;
  return passkeyForm('get', {
    action: '/console/passkeys/login',
    fields: html`<input type="hidden" name="next" value="${next}">`,
    button: html`<button>Log in with a passkey</button>`,
  });
}

/** Why there are no passkeys at this address. */
export function whyNone({ lacks }: Extract<Availability, { party: undefined }>, publicUrl: string): Html {
  if (lacks === 'tls')
    return html`Passkeys need TLS, and the address of this console (<code>PUBLIC_URL</code>) begins with <code>http:</code>.`;
  const { port } = new URL(publicUrl);
  const example = `http://localhost${port === '' ? '' : `:${port}`}`;
  return html`Passkeys belong to the name of a host, and the address of this console (<code>PUBLIC_URL</code>) has none but the
numbers of an IP address: on your own machine, set it to <code>${example}</code>.`;
}
