/** The maps of the project name what is there. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/run/config.ts';
import { WINGS } from '../support/import-rules.ts';

const ROOT = join(import.meta.dirname, '../..');

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

function foldersOf(path: string): string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** The doors, without what they share. */
const DOORS = foldersOf('src/doors').filter((folder) => !['http', 'consoles'].includes(folder));

/** What the picture of the wings says of each, in its order. */
function readPicture(): Map<string, string> {
  const [, picture = ''] = /```\n( {2}base[\s\S]*?)```/.exec(read('docs/architecture.md')) ?? [];
  return new Map(
    picture
      .split(/^ {2}(?=\w)/m)
      .slice(1)
      .map((text) => [text.split(' ')[0]!, text]),
  );
}

describe('docs/architecture.md', () => {
  test('draws the wings in their order', () => {
    expect(foldersOf('src').sort()).toEqual(WINGS.toSorted());
    expect([...readPicture().keys()]).toEqual(WINGS);
  });

  test.each(WINGS)('draws every folder of %s', (wing) => {
    const drawn = readPicture()
      .get(wing)!
      .split(/[^\w-]+/);
    expect(foldersOf(`src/${wing}`).filter((folder) => !drawn.includes(folder))).toEqual([]);
  });
});

test('the picture of the architecture shows every door, its port, and every wing of features', () => {
  const [, ...texts] = read('docs/images/architecture.svg').split('<text');
  const shown = texts.map((text) => /^[^>]*>([^<]*)/.exec(text)![1]!).join('\n');
  const { port, grpcPort, opsPort, sandboxPort } = readConfig({});
  const ports = [port, grpcPort, opsPort, sandboxPort].map((each) => `:${each}`);
  const doors = DOORS.map((door) => (door === 'grpc' ? 'gRPC' : door === 'ops' ? 'operators' : door));
  const wings = WINGS.filter((wing) => !['base', 'events', 'doors', 'run'].includes(wing));
  const words = [...ports, ...doors, ...wings, 'PostgreSQL', 'npm run admin'];
  expect(words.filter((word) => !shown.toLowerCase().includes(word.toLowerCase()))).toEqual([]);
});

test("README's Status names every door and every SDK, and nothing that is there is said to be missing", () => {
  const [, there = '', missing = ''] =
    /^## Status\n([\s\S]*?)\*\*Not there yet:\*\*([\s\S]*?)^## /m.exec(read('README.md')) ?? [];
  const sdks = foldersOf('sdk').filter((name) => name !== 'conformance');
  const parts = [...DOORS.map((door) => `src/doors/${door}`), ...sdks.map((sdk) => `sdk/${sdk}`)];
  expect(parts.length).toBeGreaterThan(7);
  expect(parts.filter((part) => !there.includes(`\`${part}\``))).toEqual([]);
  expect(missing).not.toMatch(/console|gRPC|REST|webhooks|TypeScript|Go\b|Rust/);
});

/** Words in backquotes that are paths of the project, with their patterns written out. */
function pathsIn(text: string): string[] {
  return [
    ...text.matchAll(
      /`((?:src|test|scripts|sdk|docs|migrations|proto|deploy|bench|faults|sandbox)\/[^`\s]*)`/g,
    ),
  ]
    .map(([, path]) => path!.replace(/<[^>]*>/g, '*'))
    .filter((path) => !path.includes('...'));
}

describe.each([
  ...['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/changing.md', 'docs/testing.md'],
])('%s', (document) => {
  test('names files that exist', () => {
    const paths = pathsIn(read(document));
    expect(paths.length).toBeGreaterThan(1);
    expect(paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });
});

const withoutCode = (text: string) => text.replace(/```[\s\S]*?```/g, '');

/** The anchors of a page: its headings, in lower case, with dashes, and numbered if they come again. */
function anchorsOf(document: string): string[] {
  const headings = [...withoutCode(read(document)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/\]\([^)]*\)|[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return headings.map((name, at) => {
    const before = headings.slice(0, at).filter((each) => each === name).length;
    return before === 0 ? name : `${name}-${before}`;
  });
}

const PAGES = ['*.md', 'deploy/**/*.md', 'docs/**/*.md', 'sandbox/*.md', 'sdk/{go,typescript}/README.md'];

test.each(globSync(PAGES, { cwd: ROOT }))('%s links to files and headings that are there', (document) => {
  const links = [...withoutCode(read(document)).matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)];
  const broken = links.filter(([, file, anchor]) => {
    const target = file === '' ? document : posix.join(posix.dirname(document), file!);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});
