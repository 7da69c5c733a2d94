/**
 * A passkey: a key pair that an authenticator keeps for a person, and that logs the person in.
 *
 * It belongs to an address, not to one member: it proves who the person is, as a mail to the address does.
 */
import { isIP } from 'node:net';
import { isId } from '../../base/lib/ids.ts';

/** Passkeys of one address. */
export const PASSKEYS_MAX = 20;
export const PASSKEY_NAME_LENGTH_MAX = 100;
/** How long a browser may take for what it was asked to sign. */
export const CHALLENGE_MINUTES = 5;

export interface Passkey {
  readonly id: string;
  /** That the authenticator gave it. */
  readonly credential: Buffer;
  readonly transports: readonly string[];
  readonly name: string;
  readonly backedUp: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export function isPasskeyId(text: string): boolean {
  return isId('pk', text);
}

/** For whom authenticators make passkeys. */
export interface RelyingParty {
  /** The host name. */
  readonly id: string;
  /** The origin of the pages that may ask for a passkey. */
  readonly origin: string;
}

/**
 * Browsers keep passkeys for names of hosts, and use them where no third party can listen: over TLS, or on the machine itself.
 *
 * Source: W3C, "Web Authentication", section "Relying Party Identifier"; "Secure Contexts", section 3.1.
 */
export type Availability =
  | { readonly party: RelyingParty }
  | { readonly party: undefined; readonly lacks: 'name' | 'tls' };

export function passkeysAt(publicUrl: string): Availability {
  const { protocol, hostname, origin } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return { party: undefined, lacks: 'name' };
  const isOnMachine = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isOnMachine) return { party: undefined, lacks: 'tls' };
  return { party: { id: hostname, origin } };
}
