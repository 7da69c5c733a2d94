/**
 * The ceiling of an API key: what a token that is minted with it may carry at most, or one that is
 * minted with a device credential which it creates.
 *
 * Source: specification 7.3, "minting beyond the key's ceiling".
 */
import { FAILURES, Failure } from '../../base/failure.ts';
import { mayJoinRoom } from './room-names.ts';
import { TOKEN_SECONDS_MAX } from './token-lifetime.ts';

/** In each list, `null` stands for all there are. */
export interface KeyCeiling {
  readonly capabilities: readonly string[] | null;
  readonly roles: readonly string[] | null;
  /** Names of rooms, and patterns that name several. */
  readonly rooms: readonly string[] | null;
  readonly rank: number;
  readonly lifetimeSeconds: number;
}

export const RANK_MAX = 99;

/** What a key has until an operator lowers or raises it. */
export const DEFAULT_CEILING: KeyCeiling = {
  capabilities: null,
  roles: null,
  rooms: null,
  rank: 80,
  lifetimeSeconds: TOKEN_SECONDS_MAX,
};

/** What a token would carry. */
export interface TokenGrant {
  readonly role: string;
  readonly rank: number;
  readonly capabilities: readonly string[];
  readonly lifetimeSeconds: number;
}

/** It all travels in a header. */
const ROOMS_NAMED_MAX = 5;

/**
 * Fails with `ceiling_exceeded`, and says what is too much. Nothing is trimmed: what was asked for is
 * granted, or nothing is.
 *
 * `rooms` are names, and patterns that name several. A pattern is within another one that matches it as
 * it is: only a star takes a star, and takes whatever that one stands for.
 */
export function refuseBeyondCeiling(ceiling: KeyCeiling, grant: TokenGrant, rooms: readonly string[]): void {
  const outside = rooms.filter((each) => !mayJoinRoom(ceiling.rooms, each));
  const excess = [
    ...grant.capabilities.filter((each) => ceiling.capabilities?.includes(each) === false),
    ...(ceiling.roles?.includes(grant.role) === false ? [`role ${grant.role}`] : []),
    ...outside.slice(0, ROOMS_NAMED_MAX).map((each) => `room ${each}`),
    ...(grant.rank > ceiling.rank ? [`rank ${grant.rank}`] : []),
    ...(grant.lifetimeSeconds > ceiling.lifetimeSeconds ? [`lifetime ${grant.lifetimeSeconds} s`] : []),
  ].join(', ');
  if (excess === '') return;
  const message = `${FAILURES.ceiling_exceeded}: ${excess}`;
  throw new Failure('ceiling_exceeded', { message, metadata: { excess } });
}
