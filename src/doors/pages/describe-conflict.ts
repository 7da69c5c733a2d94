import type { Conflict, Report } from '../../money/usage/conflict.ts';

/** What the reports of an id differ in: `seconds 60, then 61; role host, then audience`. */
export function describeConflict({ accepted, reported }: Conflict): string {
  const names = Object.keys(accepted) as (keyof Report)[];
  return names
    .filter((name) => accepted[name] !== (reported[name] ?? null))
    .map((name) => `${name} ${accepted[name] ?? 'none'}, then ${reported[name] ?? 'none'}`)
    .join('; ');
}
