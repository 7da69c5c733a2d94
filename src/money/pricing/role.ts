/**
 * Roles of participants and tiers of the media they receive; prices depend on both.
 * Source: specification 2.6.
 */

export const ROLES = ['host', 'audience', 'broadcast_audience'] as const;
export type Role = (typeof ROLES)[number];

/** What people read. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  host: 'host',
  audience: 'audience',
  broadcast_audience: 'audience of a broadcast',
};

/** By the total pixels of all video streams that a participant receives at once. */
export const TIERS = ['audio', 'hd', 'full_hd', '2k', '2k_plus'] as const;
export type Tier = (typeof TIERS)[number];

/** What people read. */
export const TIER_WORDS: Readonly<Record<Tier, string>> = {
  audio: 'audio',
  hd: 'HD',
  full_hd: 'Full HD',
  '2k': '2K',
  '2k_plus': 'above 2K',
};
