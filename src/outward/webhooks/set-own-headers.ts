/** Set the headers of a webhook. */
import type { Tx } from '../../base/db/pool.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import type { WebhookName } from './claimed-webhook.ts';
import { type OwnHeaders, parseOwnHeaders, type ShownHeaders, shownHeaders } from './own-headers.ts';
import { openOwnHeaders, sealOwnHeaders } from './sealed-headers.ts';
import { findSealedHeaders, updateOwnHeaders } from './webhooks.sql.ts';

/** What is left out keeps its value. */
export interface GivenHeaders {
  readonly headers?: OwnHeaders['headers'] | undefined;
  readonly basicAuth?: OwnHeaders['basicAuth'] | undefined;
}

/**
 * In the transaction that has locked the webhook. Returns what may be shown of them; `undefined`: nothing was given. Fails
 * with `invalid_request`.
 */
export async function setOwnHeaders(
  tx: Tx,
  box: SecretBox,
  name: WebhookName,
  { headers, basicAuth }: GivenHeaders,
): Promise<ShownHeaders | undefined> {
  if (headers === undefined && basicAuth === undefined) return undefined;
  // Only what is kept is opened, so that all can be replaced after SECRETS_KEY was.
  const isKept = headers === undefined || basicAuth === undefined;
  const sealed = isKept ? await findSealedHeaders(tx, name.tenant, name.id) : null;
  const before = openOwnHeaders(box, name, sealed);
  const given = {
    headers: headers ?? before.headers,
    basicAuth: basicAuth === undefined ? before.basicAuth : basicAuth,
  };
  const own = parseOwnHeaders(given);
  const shown = shownHeaders(own);
  await updateOwnHeaders(tx, name.tenant, name.id, { ...shown, sealed: sealOwnHeaders(box, name, own) });
  return shown;
}
