/**
 * A statement as CSV, for spreadsheets: a line for each change of the balance.
 *
 * The first line has the opening balance and the last one the closing balance. `micros` of all lines but the last add up
 * to that of the last.
 */
import { plainDollars } from '../../money/amount.ts';
import { MOVEMENT_GROUPS, type MovementGroup, type Statement } from '../../money/statements/statement.ts';
import type { Measures } from '../../money/usage/usage-summary.ts';
import { renderCsv, type SeparatorName } from './csv.ts';

interface Line extends Partial<Measures> {
  readonly line: 'opening' | 'payment' | 'reversal' | 'adjustment' | 'grant' | 'usage' | 'closing';
  readonly micros: bigint;
  readonly at?: Date;
  readonly kind?: string;
  readonly reference?: string | undefined;
  readonly payment?: string | undefined;
  readonly detail?: string | undefined;
  readonly room?: string;
}

const COLUMNS: Readonly<Record<string, (line: Line) => unknown>> = {
  line: ({ line }) => line,
  at: ({ at }) => at?.toISOString(),
  kind: ({ kind }) => kind,
  reference: ({ reference }) => reference,
  payment: ({ payment }) => payment,
  detail: ({ detail }) => detail,
  room: ({ room }) => room,
  records: ({ records }) => records,
  seconds: ({ seconds }) => seconds,
  egress_bytes: ({ egressBytes }) => egressBytes,
  ingress_bytes: ({ ingressBytes }) => ingressBytes,
  micros: ({ micros }) => micros,
  dollars: ({ micros }) => plainDollars(micros),
  unbilled_micros: ({ unbilled }) => unbilled,
};

export const STATEMENT_COLUMNS = Object.keys(COLUMNS);

const LINES: Readonly<Record<MovementGroup, Line['line']>> = {
  payments: 'payment',
  reversals: 'reversal',
  adjustments: 'adjustment',
  grants: 'grant',
};

export function renderStatementCsv(statement: Statement, separator?: SeparatorName): string {
  const rows = linesOf(statement).map((line) => Object.values(COLUMNS).map((cell) => cell(line)));
  return [STATEMENT_COLUMNS, ...rows].map((cells) => renderCsv(cells, separator)).join('');
}

function linesOf(statement: Statement): Line[] {
  const { opening, usage, closing } = statement;
  const { rooms, others } = usage;
  return [
    { line: 'opening', micros: opening },
    ...MOVEMENT_GROUPS.flatMap((group) => movementLines(statement, group)),
    ...rooms.map((room): Line => ({ line: 'usage', ...room, micros: -room.amount })),
    ...(others
      ? [
          {
            line: 'usage' as const,
            ...others,
            micros: -others.amount,
            detail: `further rooms: ${others.rooms}`,
          },
        ]
      : []),
    { line: 'closing', micros: closing },
  ];
}

function movementLines(statement: Statement, group: MovementGroup): Line[] {
  const { entries, others } = statement[group];
  const line = LINES[group];
  return [
    ...entries.map(({ amount, ...entry }): Line => ({ line, ...entry, micros: amount })),
    ...(others ? [{ line, micros: others.sum, detail: `further entries: ${others.count}` }] : []),
  ];
}
