/**
 * The code blocks of the documents, and which test runs each.
 *
 * Comments right above a block say what it needs. They are not shown to readers:
 *
 * - `<!-- json: GET /v1/billing 200 -->`: the schema of a block of JSON (`json-examples.test.ts`). If the commands above it got
 *   that answer, it is compared with it.
 * - `<!-- varies: seq -->`: members of JSON whose values are another time others.
 * - `<!-- line of: tenant.ndjson -->`: the commands above it have written a line with the same members into this file.
 * - `<!-- file: batch.json -->`: the commands below it find it under this name.
 * - `<!-- needs: tenant t_84d1e0ee86273703, a grant -->`: what is there before the commands begin (`needs.ts`).
 * - `<!-- until: ready -->`: the commands run for ever, and end once they have printed this.
 * - `<!-- output -->`: what the commands above it print.
 * - `<!-- answer: GET /v1/billing -->`: the answer to this request, or a part of it.
 * - `<!-- logged -->`: a line that the service has logged.
 * - `<!-- settings -->`: variables of the service's environment.
 * - `<!-- checked in: test/relay/hostile.test.ts -->`: another test compares it.
 * - `<!-- not run: a picture -->`: why nothing can run it. There are few of them.
 *
 * Behind the language, `run` marks what the site runs from the page: `src/doors/rest/site/runnable.ts`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export const PAGES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: ROOT }).sort()];

/** For programs that write code. They are no pages. */
const SKILLS = globSync('skills/*/SKILL.md', { cwd: ROOT }).sort();

const NOTES = [
  ...['json', 'varies', 'line of', 'file', 'needs', 'until', 'output', 'answer', 'logged', 'settings'],
  ...['checked in', 'not run'],
] as const;
type Note = (typeof NOTES)[number];

export interface Block {
  readonly page: string;
  /** The page, and the line of the fence. */
  readonly where: string;
  /** `''` without one. */
  readonly language: string;
  readonly text: string;
  /** The language, and what stands behind it. */
  readonly info: string;
  /** What the comments above it say. */
  readonly notes: Readonly<Partial<Record<Note, string>>>;
}

/** In the order of the page. A block inside a list loses its indentation. */
export function readBlocks(page: string, text = readPage(page)): Block[] {
  const fenced = /((?:^[ \t]*<!--.*-->\n\s*)*)^([ \t]*)```((\w*)(?: .*)?)\n([\s\S]*?)^[ \t]*```$/gm;
  return [...text.matchAll(fenced)].map((match) => {
    const [, comments = '', indent = '', info = '', language = '', code = ''] = match;
    const line = text.slice(0, match.index + comments.length).split('\n').length;
    const where = `${page}:${line}`;
    return {
      page,
      where,
      language,
      info,
      text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      notes: readNotes(where, comments),
    };
  });
}

function readNotes(where: string, comments: string): Block['notes'] {
  const notes = [...comments.matchAll(/<!-- ([a-z ]+?)(?:: (.*?))? -->/g)].map(([, name, value = '']) => {
    if (!NOTES.includes(name as Note)) throw new Error(`${where}: no note is called "${name}"`);
    return [name, value];
  });
  return Object.fromEntries(notes);
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

export const BLOCKS = [...PAGES, ...SKILLS].flatMap((page) => readBlocks(page));

export type Runner = 'json' | 'code' | 'configuration' | 'commands' | 'another test' | 'nothing';

/** What runs a block; undefined for one that was forgotten. */
export function runnerOf({ language, notes }: Block): Runner | undefined {
  if (notes['not run'] !== undefined) return 'nothing';
  if (notes['checked in'] !== undefined) return 'another test';
  if (notes.settings !== undefined) return 'configuration';
  if ([notes.output, notes.answer, notes.logged].some((note) => note !== undefined)) return 'commands';
  return RUNNERS[language];
}

/** By language. Each name but `json` is that of a test file. */
const RUNNERS: Readonly<Record<string, Runner>> = {
  json: 'json',
  ...{ ts: 'code', go: 'code', rust: 'code', python: 'code' },
  ...{ ini: 'configuration', nginx: 'configuration' },
  ...{ sh: 'commands', console: 'commands', js: 'commands' },
};

export function blocksOf(runner: Runner): Block[] {
  return BLOCKS.filter((block) => runnerOf(block) === runner);
}
