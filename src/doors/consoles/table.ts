/** Tables of both consoles, which become lists of rows where the screen is narrow. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { scrolling } from './components.ts';

interface Columns {
  /** Aligned to the right. */
  readonly numbers?: readonly string[];
  /** The one that says what its row is about. */
  readonly names?: string;
  /** One that stays one line a row on a phone, with its name and its buttons, or with its name and its last number. */
  readonly look?: 'desk' | 'sums';
  /** The id of each row, so that an address can lead to it. */
  readonly ids?: readonly string[];
}

/**
 * `label` names it for screen readers. A column whose heading is `false` is left out, with its cells. Without rows, a
 * line says so.
 */
export function table(
  label: string,
  headings: readonly (string | false)[],
  rows: readonly (readonly HtmlValue[])[],
  { numbers = [], names, look: kind, ids }: Columns = {},
): Html {
  if (rows.length === 0) return html`<p class="hint">${label}: none.</p>`;
  const look = (heading: string) => numbers.includes(heading) && html` class="number"`;
  const cellOf = (heading: string, cell: HtmlValue) =>
    heading === names
      ? html`<th scope="row" data-label="${heading}">${cell}</th>`
      : html`<td${look(heading)} data-label="${heading}">${cell}</td>`;
  return scrolling(
    label,
    html`<table class="rows${kind && ` ${kind}`}"><caption class="hidden">${label}</caption>
<thead><tr>${headings.map((each) => each !== false && html`<th scope="col"${look(each)}>${each}</th>`)}</tr></thead>
<tbody>${rows.map(
      (cells, row) =>
        html`<tr${ids && html` id="${ids[row]}" tabindex="-1"`}>${headings.map((heading, at) => heading !== false && cellOf(heading, cells[at]))}</tr>`,
    )}</tbody></table>`,
  );
}

/** Names and values, one pair a line. A value that is nothing is a dash. */
export function facts(label: string, pairs: Readonly<Record<string, HtmlValue>>): Html {
  return scrolling(
    label,
    html`<table><caption class="hidden">${label}</caption><tbody>${Object.entries(pairs).map(
      ([name, value]) =>
        html`<tr><th scope="row">${name}</th><td>${value === null || value === undefined || value === '' ? '–' : value}</td></tr>`,
    )}</tbody></table>`,
    'slim',
  );
}
