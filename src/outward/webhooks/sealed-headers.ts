/** Headers of a tenant's own as they are stored: sealed for their webhook. */
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { WebhookName } from './claimed-webhook.ts';
import { NO_OWN_HEADERS, type OwnHeaders } from './own-headers.ts';

/** `null`: there are none. */
export function sealOwnHeaders(box: SecretBox, name: WebhookName, own: OwnHeaders): Buffer | null {
  if (own.headers.length === 0 && !own.basicAuth) return null;
  return box.seal(Buffer.from(JSON.stringify(own)), headersContext(name));
}

export function openOwnHeaders(box: SecretBox, name: WebhookName, sealed: Buffer | null): OwnHeaders {
  return sealed
    ? (JSON.parse(box.open(sealed, headersContext(name)).toString()) as OwnHeaders)
    : NO_OWN_HEADERS;
}

/** What the headers of a webhook are sealed for. */
export function headersContext({ tenant, id }: WebhookName): string {
  return `webhook headers ${renderTenantId(tenant)} ${id}`;
}
