/** Headers of a tenant's own as they are stored: sealed for their webhook. */
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { WebhookName } from './claimed-webhook.ts';
import { NO_OWN_HEADERS, type OwnHeaders } from './own-headers.ts';

/** `null`: there are none. */
export function sealOwnHeaders(box: SecretBox, name: WebhookName, own: OwnHeaders): Buffer | null {
  if (own.headers.length === 0 && !own.basicAuth) return null;
  return box.seal(Buffer.from(JSON.stringify(own)), contextOf(name));
}

export function openOwnHeaders(box: SecretBox, name: WebhookName, sealed: Buffer | null): OwnHeaders {
  return sealed ? (JSON.parse(box.open(sealed, contextOf(name)).toString()) as OwnHeaders) : NO_OWN_HEADERS;
}

function contextOf({ tenant, id }: WebhookName): string {
  return `webhook headers ${renderTenantId(tenant)} ${id}`;
}
