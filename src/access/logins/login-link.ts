/** A link that logs in once: what it proves, where it leads, and how long it works. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { PersonProof } from '../sessions/session.ts';

/** A link, mailed or printed, works for so long, and once. */
export const LINK_MINUTES = 15;

/** The page that a log-in begins with. */
export const CONSOLE_PATH = '/console';

/** A person who proved to have an address. */
export interface ProvedPerson {
  readonly proof: PersonProof;
  readonly email: string;
  /** The passkey that the link comes from, if there is one. */
  readonly passkeyId?: string | undefined;
  /** The tenant to begin with, if one was asked for. */
  readonly tenant: TenantId | undefined;
}

/** What a link proves. */
export type LinkProof =
  | ProvedPerson
  | { readonly proof: 'key'; readonly tenant: TenantId; readonly keyId: string }
  | { readonly proof: 'operator'; readonly tenant: TenantId; readonly operator: string };

export type LoginLink = LinkProof & {
  /** The path of the page to begin with. */
  readonly next: string;
};

/** The path of the page that logs in with a link. */
export function linkPath(secret: string): string {
  return `${CONSOLE_PATH}/login/${secret}`;
}
