/** SQL of the sums by room of a period, from as few rows as there may be. */
import { DELTA_SUMS } from './fold-usage.sql.ts';
import type { Part } from './period-parts.ts';
import { type RolledUpSums, tableOf } from './rolled-up-sums.ts';

export interface RoomSums {
  /** The columns of the tables. `time` is the start of the hour, day, week or month; of a delta, its own time. */
  readonly columns: readonly string[];
  readonly sums: RolledUpSums;
  /** The parts whose sums are read, besides hours. */
  readonly parts: readonly Part[];
  /** The number of the parameter with the first of the edges (`edgesOf`). The tenant is `$1`. */
  readonly edges: number;
  /** What else a row must fulfil, such as `and room = $4`. */
  readonly where: string;
}

/** A select of rows to be added up: sums that are kept, and the deltas that are not in them yet. */
export function selectRoomSums({ columns, sums, parts, edges, where }: RoomSums): string {
  const units = ['hour', ...parts] as const;
  const last = edges + 2 * units.length - 1;
  const kept = units.flatMap((unit, depth) => {
    const shown = columns.map((each) => (each === 'time' ? `${unit} as time` : each)).join(', ');
    const select = (from: number, to: number) =>
      `select ${shown} from ${tableOf(sums, unit)}
        where tenant_id = $1 and ${unit} >= $${from} and ${unit} < $${to} ${where}`;
    const before = select(edges + depth, edges + depth + 1);
    return depth === units.length - 1 ? [before] : [before, select(last - depth - 1, last - depth)];
  });
  const shown = columns.map((each) => (each === 'time' ? 'd.at as time' : `s.${each}`)).join(', ');
  const deltas = `select ${shown} from usage_deltas d, ${DELTA_SUMS}
                   where d.tenant_id = $1 and d.at >= $${edges} and d.at < $${last} ${where}`;
  return [...kept, deltas].join(' union all ');
}
