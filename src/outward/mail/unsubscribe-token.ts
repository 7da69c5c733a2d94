/** The token in the unsubscribe link of an alert: a tenant and an address, sealed. It has no end. */

import type { SecretBox } from '../../base/lib/secret-box.ts';
import { normalAddress } from '../../base/tenants/mail-address.ts';
import { parseTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';

export interface Subscription {
  readonly tenant: TenantId;
  /** In lower case. */
  readonly address: string;
}

const CONTEXT = 'mail unsubscribe';

export function unsubscribeUrl(
  box: SecretBox,
  publicUrl: string,
  mail: { readonly tenant: TenantId; readonly address: string },
): string {
  return `${publicUrl}/unsubscribe/${sealSubscription(box, mail)}`;
}

export function sealSubscription(
  box: SecretBox,
  { tenant, address }: { readonly tenant: TenantId; readonly address: string },
): string {
  const text = `${renderTenantId(tenant)} ${normalAddress(address)}`;
  return box.seal(Buffer.from(text), CONTEXT).toString('base64url');
}

/** `undefined` if `sealSubscription()` did not make the token. */
export function openSubscription(box: SecretBox, token: string): Subscription | undefined {
  const sealed = Buffer.from(token, 'base64url');
  if (sealed.toString('base64url') !== token) return undefined;
  try {
    const [id = '', address = ''] = box.open(sealed, CONTEXT).toString().split(' ');
    const tenant = parseTenantId(id);
    return tenant === undefined ? undefined : { tenant, address };
  } catch {
    return undefined;
  }
}
