/** Where a tenant's webhooks go: an https URL of the public internet. */
import { isIP } from 'node:net';
import { invalidField } from '../../base/failure.ts';
import { type AddressRanges, findRefusedKind, isAllowed } from './address-guard.ts';

export const WEBHOOK_URL_CHARACTERS_MAX = 2048;

/** URLs are taken as they are meant: `URL` itself would accept spaces, backslashes and missing slashes. */
const SPELLING = /^https?:\/\/[\x21-\x7e\u0080-\uffff]+$/i;

/**
 * Parses the URL of an endpoint; `href` of the answer is its canonical form.
 *
 * A name is not resolved here: each connection resolves it and checks the addresses (`guarded-lookup.ts`), and so does
 * `checkWebhookUrl()` for plain http.
 *
 * @throws Failure `invalid_request` about the field `url`
 */
export function parseWebhookUrl(text: string, allowed: AddressRanges): URL {
  if (text.length > WEBHOOK_URL_CHARACTERS_MAX) {
    throw invalidField('url', `must have at most ${WEBHOOK_URL_CHARACTERS_MAX} characters`);
  }
  const url = SPELLING.test(text) && !text.includes('\\') ? URL.parse(text) : null;
  if (url === null || url.port === '0')
    throw invalidField('url', 'must be a URL such as https://x.example/hook');
  if (url.href.length > WEBHOOK_URL_CHARACTERS_MAX) {
    throw invalidField(
      'url',
      `must have at most ${WEBHOOK_URL_CHARACTERS_MAX} characters once it is encoded`,
    );
  }
  if (url.username !== '' || url.password !== '')
    throw invalidField('url', 'must have no user name or password');
  if (text.includes('#')) throw invalidField('url', 'must have no fragment');
  const refusal = refuseUrl(url, allowed);
  if (refusal !== undefined) throw invalidField('url', refusal);
  return url;
}

/**
 * What the URL must be, of what `allowed` decides: `must be ...`. `undefined` if the service may send to it,
 * as far as this is known before its name is resolved.
 */
export function refuseUrl(url: URL, allowed: AddressRanges): string | undefined {
  const host = hostOf(url);
  const isAddress = isIP(host) > 0;
  const mayBePlain = isAddress ? isAllowed(host, allowed) : allowed.length > 0;
  if (url.protocol === 'http:' && !mayBePlain) return 'must begin with https://';
  const kind = isAddress ? findRefusedKind(host, allowed) : undefined;
  return kind && `must be on the public internet: ${host} is a ${kind} address`;
}

/** The host of the URL: a name, or an address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
