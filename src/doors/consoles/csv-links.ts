/** Links to a list as CSV: with commas, and with the semicolons that a spreadsheet may want. */
import { type Html, html } from '@boxoffice/pages/html';
import { SEPARATORS, type SeparatorName } from '../http/csv.ts';
import type { Form } from '../http/form.ts';
import { choiceOf } from './query.ts';

const NAMES = Object.keys(SEPARATORS) as SeparatorName[];

/** `what` is in the list, such as `All entries`. */
export function csvLinks(path: string, what: string): Html {
  const withSemicolons = `${path}${path.includes('?') ? '&' : '?'}separator=semicolon`;
  return html`<a href="${path}">${what} as CSV</a> (<a href="${withSemicolons}" aria-label="${what} as CSV with semicolons">with semicolons</a>)`;
}

/** What the reader chose; `undefined`: commas. Fails with `invalid_request`. */
export function separatorOf(query: Form): SeparatorName | undefined {
  return choiceOf(query, 'separator', NAMES);
}
