/** The letters that stand for roles and tiers in `usage_records` and in the sums of usage. */
import { ROLES, type Role, TIERS, type Tier } from './role.ts';

export const ROLE_CODES: Readonly<Record<Role, string>> = {
  host: 'h',
  audience: 'a',
  broadcast_audience: 'b',
};
export const TIER_CODES: Readonly<Record<Tier, string>> = {
  audio: 'a',
  hd: 'h',
  full_hd: 'f',
  '2k': '2',
  '2k_plus': 'k',
};

/** SQL that gives a column of codes its words. */
export function decode(column: string, codes: Readonly<Record<string, string>>): string {
  return `case ${column} ${Object.entries(codes)
    .map(([word, code]) => `when '${code}' then '${word}'`)
    .join(' ')} end`;
}

export function roleOf(code: string): Role {
  return ROLES.find((role) => ROLE_CODES[role] === code)!;
}

export function tierOf(code: string): Tier {
  return TIERS.find((tier) => TIER_CODES[tier] === code)!;
}
