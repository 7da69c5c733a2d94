/** How commands print: aligned plain text for people, JSON for programs. */
import { exactJson } from '../../base/lib/exact-json.ts';

/** `undefined` and `null` are shown as a dash. */
export type Cell = string | number | bigint | boolean | Date | null | undefined;

const GAP = '  ';

/** A table: a line of headings, then the rows. Columns named in `right` are aligned to the right. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  { right = [] }: { right?: readonly string[] } = {},
): void {
  const texts = rows.map((row) => row.map(showCell));
  // Not spread into one call: there may be more rows than a call accepts arguments.
  const widths = headings.map((heading, at) =>
    texts.reduce((width, row) => Math.max(width, row[at]!.length), heading.length),
  );
  const isRight = headings.map((heading) => right.includes(heading));
  for (const line of [headings.map((heading) => heading.toUpperCase()), ...texts]) {
    const padded = line.map((text, at) =>
      isRight[at] ? text.padStart(widths[at]!) : text.padEnd(widths[at]!),
    );
    printLine(padded.join(GAP).trimEnd());
  }
}

/** Names and values, one pair a line. */
export function printFields(fields: Readonly<Record<string, Cell>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) {
    printLine(`${name.padEnd(width)}${GAP}${showCell(value)}`.trimEnd());
  }
}

export function printLine(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  printLine(exactJson(value, 2));
}

function showCell(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return printable(String(cell));
}

/** Names and addresses are user input: control characters are printed as question marks. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
