/** Who gets mail about a tenant, and which. */
import { invalidField } from '../../base/failure.ts';
import { isMailAddress, normalAddress } from '../../base/tenants/mail-address.ts';
import type { EventMailKind } from './mail.ts';

/** Addresses besides the one given at signup. The table checks it too. */
export const ADDRESSES_MAX = 5;

export interface MailSettings {
  /** Whether the address given at signup gets mail. */
  readonly signupAddress: boolean;
  /** Further addresses. */
  readonly addresses: readonly string[];
  readonly alerts: boolean;
  readonly receipts: boolean;
}

export const DEFAULT_SETTINGS: MailSettings = {
  signupAddress: true,
  addresses: [],
  alerts: true,
  receipts: true,
};

/** The settings together with what they depend on. */
export interface MailRecipients extends MailSettings {
  /** As given at signup. */
  readonly email: string;
  /** In lower case: their owners want no alerts. */
  readonly unsubscribed: readonly string[];
  /** The addresses of the owners who have joined. */
  readonly owners: readonly string[];
  /** In lower case: whom alerts and receipts may reach; `null`: any address of the settings. */
  readonly reachable: readonly string[] | null;
}

/** Check what a request asks for, after its schema. Fails with `invalid_request`. */
export function parseMailSettings(settings: MailSettings): MailSettings {
  settings.addresses.forEach((_, at) => {
    refuseAddress(settings.addresses, at);
  });
  return settings;
}

/** Fails with `invalid_request` if the address at this place is none, or stands before it too. */
export function refuseAddress(addresses: readonly string[], at: number): void {
  const [address = '', normals] = [addresses[at], addresses.map(normalAddress)];
  if (!isMailAddress(address)) throw invalidField(`addresses/${at}`, 'must be a mail address');
  if (normals.indexOf(normalAddress(address)) < at)
    throw invalidField(`addresses/${at}`, 'must be listed once');
}

/**
 * Who gets a mail of this kind; each address once, whatever its case.
 *
 * A tenant that never paid reaches only people who proved their address and joined: it could name anybody. About the
 * account itself, its owners are told, whatever the settings say. If none has joined, the address given at signup
 * is.
 */
export function recipientsOf(recipients: MailRecipients, kind: EventMailKind): readonly string[] {
  if (kind === 'account') return recipients.owners.length > 0 ? recipients.owners : [recipients.email];
  if (!(kind === 'alert' ? recipients.alerts : recipients.receipts)) return [];
  const all = [...(recipients.signupAddress ? [recipients.email] : []), ...recipients.addresses];
  const byNormal = new Map(all.toReversed().map((address) => [normalAddress(address), address]));
  if (kind === 'alert') for (const address of recipients.unsubscribed) byNormal.delete(address);
  const found = [...byNormal].filter(([normal]) => recipients.reachable?.includes(normal) ?? true);
  return found.map(([, address]) => address).toReversed();
}
