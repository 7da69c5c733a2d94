/** SQL of the sums by room of a period, from as few rows as there may be. */
import { DELTA_SUMS, HOUR_OF_DELTA, ROOM_TABLES } from './fold-usage.sql.ts';
import { PARTS, type Part } from './period-parts.ts';

export interface RoomSums {
  /** Of the tables. `time` is the start of the hour, day or week. Only hours have `role` and `tier`. */
  readonly columns: readonly string[];
  /** The longest parts of the period whose sums are read; none: hours. */
  readonly upTo: Part | undefined;
  /** The number of the parameter with the first of the edges (`edgesOf`). The tenant is `$1`. */
  readonly edges: number;
  /** What else a row must fulfil, such as `and room = $4`. */
  readonly where: string;
}

/** A select of rows to be added up: sums that are kept, and the deltas that are not in them yet. */
export function selectRoomSums({ columns, upTo, edges, where }: RoomSums): string {
  const units = ['hour', ...PARTS.slice(0, upTo === undefined ? 0 : PARTS.indexOf(upTo) + 1)] as const;
  const last = edges + 2 * units.length - 1;
  const kept = units.flatMap((unit, depth) => {
    const shown = columns.map((each) => (each === 'time' ? `${unit} as time` : each)).join(', ');
    const select = (from: number, to: number) =>
      `select ${shown} from ${ROOM_TABLES[unit]}
        where tenant_id = $1 and ${unit} >= $${from} and ${unit} < $${to} ${where}`;
    const before = select(edges + depth, edges + depth + 1);
    return depth === units.length - 1 ? [before] : [before, select(last - depth - 1, last - depth)];
  });
  const shown = columns
    .map((each) => (each === 'time' ? `${HOUR_OF_DELTA} as time` : `s.${each}`))
    .join(', ');
  const deltas = `select ${shown} from usage_deltas d, ${DELTA_SUMS}
                   where d.tenant_id = $1 and d.at >= $${edges} and d.at < $${last} ${where}`;
  return [...kept, deltas].join(' union all ');
}
