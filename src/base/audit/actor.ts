/** Who makes a change that the audit trail records. */

export const ACTOR_KINDS = ['key', 'member', 'operator', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * - `key`: a caller with an API key: its id, and the address of the client.
 * - `member`: a person at the console: the id of the member, and the address of the client.
 * - `operator`: a person at the operator's command line or console: the login name there, or the address at the issuer; and
 *   of a log-in at the console of operators, the address of the client.
 * - `system`: the service itself: the part that acts, such as `signup`; and of a log-in that failed, the address of the client.
 */
export type Actor =
  | { readonly kind: 'key'; readonly id: string; readonly address: string }
  | { readonly kind: 'member'; readonly id: string; readonly address: string }
  | { readonly kind: 'operator'; readonly id: string; readonly address?: string }
  | { readonly kind: 'system'; readonly id: string; readonly address?: string };
