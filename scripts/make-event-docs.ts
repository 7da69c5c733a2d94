/**
 * Makes what documents events out of the catalogue and its schemas.
 *
 *     node scripts/make-event-docs.ts       the tables in docs/events.md
 *                                           docs/events/<type>.json, a JSON Schema for each type
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PUBLIC_EVENTS_OF } from '../src/outward/events/event-catalogue.ts';
import { snakeCase } from '../src/outward/events/public-event.ts';
import { DATA_SCHEMAS } from '../src/outward/events/schemas/data-schemas.ts';
import { DESCRIBED_EVENTS, published } from '../src/outward/events/schemas/event-schemas.ts';
import type { Schema } from './describe-rest.ts';
import { markdownTable } from './markdown.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = `${ROOT}docs/events.md`;
const FOLDER = `${ROOT}docs/events`;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** From the head of the table to the empty line after it. */
const TYPES = /^\| Type \|.*?\n(?=\n)/ms;
/** From the first subject to the next section. */
const MEMBERS = /(?<=^## The data\n.*?)^### .*?(?=^## )/ms;

/** More words than this are in the schema alone. */
const WORDS_MAX = 8;

/** The page with the tables of today. */
export function withEventTables(page: string): string {
  return page.replace(TYPES, makeTypesTable).replace(MEMBERS, makeMemberTables);
}

/** JSON Schemas by the names of their files. */
export function makeSchemaFiles(): Record<string, object> {
  return Object.fromEntries(
    DESCRIBED_EVENTS.map(({ type, schema }) => [
      `${type}.json`,
      { $schema: DIALECT, title: type, ...published(schema) },
    ]),
  );
}

function makeTypesTable(): string {
  const rows = Object.entries(PUBLIC_EVENTS_OF).flatMap(([subject, types]) => {
    const field = `\`${snakeCase(subject)}\``;
    return Object.entries(types).map(([type, told]) => [`\`${type}\``, field, told]);
  });
  return markdownTable(['Type', 'Subject', 'Meaning'], rows);
}

function makeMemberTables(): string {
  return Object.entries(DATA_SCHEMAS)
    .map(([subject, schema]) => {
      const rows = rowsOf(schema as Schema, '');
      return `### \`${snakeCase(subject)}\`\n\n${markdownTable(['Member', 'Type', 'Meaning'], rows)}\n`;
    })
    .join('');
}

function rowsOf({ properties = {} }: Schema, before: string): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const row = [`\`${before}${name}\``, typeOf(schema), `${schema.description}.`];
    const item = schema.items ?? schema;
    const hasRows = item.properties !== undefined && !isAmount(item);
    return hasRows ? [row, ...rowsOf(item, `${before}${name}.`)] : [row];
  });
}

function typeOf(schema: Schema): string {
  if (schema.items) return `list of: ${typeOf(schema.items)}`;
  if (isAmount(schema)) return 'amount';
  if (schema.format === 'date-time') return 'time';
  const { enum: words = [], type } = schema;
  if (words.length > 0 && words.length <= WORDS_MAX) return words.map((word) => `\`${word}\``).join(', ');
  return type === 'string' ? 'text' : String(type);
}

function isAmount({ properties = {} }: Schema): boolean {
  return 'micros' in properties;
}

function writeSchemaFiles(): void {
  const files = makeSchemaFiles();
  mkdirSync(FOLDER, { recursive: true });
  for (const name of globSync('*.json', { cwd: FOLDER })) if (!(name in files)) rmSync(`${FOLDER}/${name}`);
  for (const [name, schema] of Object.entries(files)) {
    writeFileSync(`${FOLDER}/${name}`, JSON.stringify(schema, null, 2));
  }
  execFileSync('biome', ['format', '--write', FOLDER], { cwd: ROOT });
}

if (import.meta.main) {
  writeFileSync(PAGE, withEventTables(readFileSync(PAGE, 'utf8')));
  writeSchemaFiles();
}
