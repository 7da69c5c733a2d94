/** SQL that reads the ceiling of a key from `api_keys`. */

/** `KeyCeiling`. */
export const CEILING_COLUMNS = `ceiling_capabilities as capabilities, ceiling_roles as roles, ceiling_rooms as rooms,
  ceiling_rank as rank, ceiling_lifetime_seconds as "lifetimeSeconds"`;
