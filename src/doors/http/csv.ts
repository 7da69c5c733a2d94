/** Lines of CSV. Source: RFC 4180. */

/** One line, with its end. */
export function renderCsv(cells: readonly unknown[]): string {
  return `${cells.map(renderCell).join(',')}\r\n`;
}

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe in front: rooms and participants have names
 * that anyone may choose. A decimal number is no formula, though it may be negative.
 */
function renderCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return String(value);
  const isFormula = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
