/** The documents of the repository that the site shows, and their addresses. */
import { readdir, readFile } from 'node:fs/promises';
import { codeOf } from '../../../base/lib/error-code.ts';

/** The project, which the service runs from without a build. */
const ROOT = new URL('../../../../', import.meta.url);

/** Pages of its folder, where an operator may keep notes of his own. */
const ROOT_PAGES = new Set(['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']);

const PAGE_FOLDERS = [
  ...['docs', 'docs/decisions'],
  ...[
    'sdk/typescript',
    'sdk/go',
    'sdk/go/relay',
    'sdk/rust',
    'sdk/python',
    'sdk/conformance',
    'examples',
    'sandbox',
  ],
];

/** Files that pages show or link to. They are sent as they are. */
const FILE_FOLDERS = [
  ...['docs/events', 'docs/vectors', 'proto/boxoffice/control/v1', 'skills/boxoffice'],
  ...['docs/images', 'docs/images/console', 'docs/images/video'],
];

/** The page that lists all others, by reader. */
export const CONTENTS = 'docs/README.md';

/** Paths of Markdown files. */
export async function listPages(): Promise<string[]> {
  const ofProject = await list(['.'], '.md');
  return [...ofProject.filter((name) => ROOT_PAGES.has(name)), ...(await list(PAGE_FOLDERS, '.md'))];
}

/** Paths of files that are no Markdown. */
export function listFiles(): Promise<string[]> {
  return list(FILE_FOLDERS);
}

export function readDocument(path: string): Promise<Buffer> {
  return readFile(new URL(path, ROOT));
}

export async function readPage(path: string): Promise<string> {
  return (await readDocument(path)).toString();
}

/** A folder that an installation left out holds nothing. */
function noneIfLeftOut(error: unknown): [] {
  if (codeOf(error) === 'ENOENT') return [];
  throw error;
}

async function list(folders: readonly string[], ending = ''): Promise<string[]> {
  const listed = await Promise.all(
    folders.map(async (folder) => {
      const url = new URL(`${folder}/`, ROOT);
      const entries = await readdir(url, { withFileTypes: true }).catch(noneIfLeftOut);
      return entries
        .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
        .map(({ name }) => (folder === '.' ? name : `${folder}/${name}`))
        .sort();
    }),
  );
  return listed.flat();
}

/**
 * `docs/usage.md` is at `/docs/usage`, `README.md` at `/docs/readme`, `sdk/go/README.md` at `/docs/sdk/go`,
 * `docs/README.md` at `/docs`, and `docs/images/curve.svg` at `/docs/images/curve.svg`.
 */
export function addressOf(path: string): string {
  if (path.startsWith('skills/')) return `/docs/${path}`;
  const name = path.replace(/(\/README)?\.md$/, '').replace(/^docs(\/|$)/, '');
  return name === '' ? '/docs' : `/docs/${path.endsWith('.md') ? name.toLowerCase() : name}`;
}
