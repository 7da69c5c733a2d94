/**
 * The ceiling of an API key: what a token that is minted with it may carry at most.
 *
 * Source: specification 7.3, "minting beyond the key's ceiling".
 */

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
export const LIFETIME_SECONDS_MAX = 900;

/** What a key has until an operator lowers or raises it. */
export const DEFAULT_CEILING: KeyCeiling = {
  capabilities: null,
  roles: null,
  rooms: null,
  rank: 80,
  lifetimeSeconds: LIFETIME_SECONDS_MAX,
};
