/**
 * The ceiling of an API key: the most that a token may carry that is minted with it, or with a device
 * credential it created. The key changes only keys and credentials within its ceiling.
 *
 * Source: specification 7.3, "minting beyond the key's ceiling".
 */

import { FAILURES, Failure } from '../../base/failure.ts';
import type { Mutation } from '../../base/idempotency/once.ts';
import { canonicalJson } from '../../base/lib/canonical-json.ts';
import { mayJoinRoom } from './room-names.ts';
import { TOKEN_SECONDS_MAX } from './token-lifetime.ts';

/** In each list, `null` means all. */
export interface KeyCeiling {
  readonly capabilities: readonly string[] | null;
  readonly roles: readonly string[] | null;
  /** Room names and patterns. */
  readonly rooms: readonly string[] | null;
  readonly rank: number;
  readonly lifetimeSeconds: number;
}

export const RANK_MAX = 99;

/** Names and patterns of rooms. */
export const CEILING_ROOMS_MAX = 100;

/** The default, until an operator changes it. */
export const DEFAULT_CEILING: KeyCeiling = {
  capabilities: null,
  roles: null,
  rooms: null,
  rank: 80,
  lifetimeSeconds: TOKEN_SECONDS_MAX,
};

/** What a caller may do, as far as it decides whose kept answers it gets (`once.ts`). */
export type Rights = Pick<Mutation, 'rights' | 'lesserRights'>;

/** Those of a key. A trusted key also gets what was answered to one that was not: it may do more, and may be the same key. */
export function rightsOf({
  ceiling,
  isTrusted,
}: {
  readonly ceiling: KeyCeiling;
  readonly isTrusted: boolean;
}): Rights {
  const { capabilities, roles, rooms, rank, lifetimeSeconds } = ceiling;
  const canonical = canonicalJson({ capabilities, roles, rooms, rank, lifetimeSeconds });
  const within = canonical === DEFAULT_RIGHTS ? '' : canonical;
  const untrusted = `untrusted ${within}`;
  return isTrusted ? { rights: within, lesserRights: untrusted } : { rights: untrusted };
}

const DEFAULT_RIGHTS = canonicalJson(DEFAULT_CEILING);

/** The ceiling of a change that no key limits: every key is within it. */
export const WIDEST_CEILING: KeyCeiling = { ...DEFAULT_CEILING, rank: RANK_MAX };

/** What a token would carry. */
export interface TokenGrant {
  readonly role: string;
  readonly rank: number;
  readonly capabilities: readonly string[];
  readonly lifetimeSeconds: number;
}

/** The excess travels in a header, so it is kept short. */
const ROOMS_NAMED_MAX = 5;

/**
 * Fails with `ceiling_exceeded`, and lists the excess. A grant is never trimmed to fit.
 *
 * `rooms` are names and patterns. A pattern is within another pattern that matches its text literally: only a
 * star matches a star, and then it also matches everything that star stands for.
 */
export function refuseBeyondCeiling(ceiling: KeyCeiling, grant: TokenGrant, rooms: readonly string[]): void {
  refuseWiderCeiling(ceiling, { ...grant, roles: [grant.role], rooms });
}

/**
 * Fails with `ceiling_exceeded` if a key with the ceiling `other` could do what one with `ceiling` cannot.
 */
export function refuseWiderCeiling(ceiling: KeyCeiling, other: KeyCeiling): void {
  const outside = (other.rooms ?? ['*']).filter((each) => !mayJoinRoom(ceiling.rooms, each));
  const excess = [
    ...(beyond(ceiling.capabilities, other.capabilities) ?? ['all capabilities']),
    ...(beyond(ceiling.roles, other.roles)?.map((each) => `role ${each}`) ?? ['all roles']),
    ...outside.slice(0, ROOMS_NAMED_MAX).map((each) => `room ${each}`),
    ...(other.rank > ceiling.rank ? [`rank ${other.rank}`] : []),
    ...(other.lifetimeSeconds > ceiling.lifetimeSeconds ? [`lifetime ${other.lifetimeSeconds} s`] : []),
  ].join(', ');
  if (excess === '') return;
  const message = `${FAILURES.ceiling_exceeded}: ${excess}`;
  throw new Failure('ceiling_exceeded', { message, metadata: { excess } });
}

/** Which of `wanted` are not allowed; `undefined`: all are wanted, and only some are allowed. */
function beyond(
  allowed: readonly string[] | null,
  wanted: readonly string[] | null,
): readonly string[] | undefined {
  if (allowed === null) return [];
  return wanted?.filter((each) => !allowed.includes(each));
}
