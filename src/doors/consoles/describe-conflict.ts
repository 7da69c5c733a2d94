import { type Conflict, differencesOf } from '../../money/usage/conflict.ts';

/** What the reports of an id differ in: `seconds 60, then 61; role host, then audience`. */
export function describeConflict(conflict: Conflict): string {
  return differencesOf(conflict)
    .map(({ name, charged, reported }) => `${name} ${charged}, then ${reported}`)
    .join('; ');
}
