/**
 * Makes the table of the types of events out of the catalogue.
 *
 *     node scripts/make-event-docs.ts       the table in docs/events.md
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { PUBLIC_EVENTS_OF } from '../src/outward/events/event-catalogue.ts';
import { snakeCase } from '../src/outward/events/public-event.ts';
import { markdownTable } from './markdown.ts';

const DOCS_URL = new URL('../docs/events.md', import.meta.url);

/** From the head of the table to the empty line after it. */
const TABLE = /^\| Type \|.*?\n(?=\n)/ms;

/** The page with the table of today. */
export function withEventTable(page: string): string {
  const rows = Object.entries(PUBLIC_EVENTS_OF).flatMap(([subject, types]) => {
    const field = `\`${snakeCase(subject)}\``;
    return Object.entries(types).map(([type, told]) => [`\`${type}\``, field, told]);
  });
  return page.replace(TABLE, () => markdownTable(['Type', 'Subject', 'Meaning'], rows));
}

if (import.meta.main) writeFileSync(DOCS_URL, withEventTable(readFileSync(DOCS_URL, 'utf8')));
