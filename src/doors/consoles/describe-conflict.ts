import { ROLE_WORDS, TIER_WORDS } from '../../money/pricing/role.ts';
import { type Conflict, differencesOf, type Report } from '../../money/usage/conflict.ts';

const NAMES: Readonly<Record<keyof Report, string>> = {
  room: 'room',
  participant: 'participant',
  role: 'role',
  tier: 'tier',
  seconds: 'seconds',
  egress_bytes: 'bytes sent',
  ingress_bytes: 'bytes received',
};

const VALUES: Partial<Record<keyof Report, Readonly<Record<string, string>>>> = {
  role: ROLE_WORDS,
  tier: TIER_WORDS,
};

/** What the reports of an id differ in: `seconds 60, then 61; role host, then audience`. */
export function describeConflict(conflict: Conflict): string {
  return differencesOf(conflict)
    .map(({ name, charged, reported }) => {
      const words = (value: string | number) => VALUES[name]?.[value] ?? value;
      return `${NAMES[name]} ${words(charged)}, then ${words(reported)}`;
    })
    .join('; ');
}
