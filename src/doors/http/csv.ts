/** Lines of CSV. Source: RFC 4180. */

/** Spreadsheets in languages with a decimal comma take semicolons. */
export const SEPARATORS = { comma: ',', semicolon: ';' } as const;
export type SeparatorName = keyof typeof SEPARATORS;

/** One line, with its end. */
export function renderCsv(cells: readonly unknown[], separator: SeparatorName = 'comma'): string {
  return `${cells.map((cell) => renderCell(cell, separator)).join(SEPARATORS[separator])}\r\n`;
}

const TO_QUOTE: Readonly<Record<SeparatorName, RegExp>> = { comma: /[",\r\n]/, semicolon: /[";\r\n]/ };

/**
 * What a spreadsheet takes for a formula: spaces and invisible signs in front do not matter to some, and some read the
 * full-width and small forms of the signs. Tabs and line breaks are refused in front too, because what follows them may become a cell of its own.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/u;
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe in front: rooms and participants have names
 * that anyone may choose. A decimal number is no formula, though it may be negative.
 */
function renderCell(value: unknown, separator: SeparatorName): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return String(value);
  const isFormula = FORMULA.test(value) && !NUMBER.test(value);
  const text = isFormula ? `'${value}` : value;
  return TO_QUOTE[separator].test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
