/** Which tests load a file, and which of them are likely to fail first. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { childrenOf, type Node, parseTypeScript } from './code-changes.ts';

/** The files that a file loads, by path from the root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

export function readImports(root: string, files: readonly string[]): Imports {
  return new Map(
    files.map((file) => {
      const specifiers = findSpecifiers(readFileSync(join(root, file), 'utf8'));
      const paths = specifiers.flatMap((specifier) => [join(dirname(file), specifier), specifier]);
      return [file, paths.filter((path) => existsSync(join(root, path)))];
    }),
  );
}

/** The modules of this project that a module names, to import or to run them. Type imports are not loaded. */
export function findSpecifiers(text: string): string[] {
  const found = new Set<string>();
  const visit = (node: Node) => {
    if (node.importKind === 'type' || node.exportKind === 'type') return;
    if (typeof node.value === 'string' && /^[^\s:]+\.ts$/.test(node.value)) found.add(node.value);
    childrenOf(node).forEach(visit);
  };
  visit(parseTypeScript(text));
  return [...found];
}

/** All tests that load a file: sorted by similarity of name and folder, then by the number of imports between. */
export function findRelatedTests(file: string, imports: Imports): string[] {
  const mirror = file.replace(/^src\//, 'test/').replace(/(\.sql)?\.ts$/, '');
  return [...measureDistances(file, imports)]
    .filter(([path]) => path.startsWith('test/') && path.endsWith('.test.ts'))
    .map(([path, distance]) => ({ path, distance, resemblance: compare(path, mirror) }))
    .sort(
      (one, other) =>
        other.resemblance - one.resemblance ||
        one.distance - other.distance ||
        (one.path < other.path ? -1 : 1),
    )
    .map(({ path }) => path);
}

/** The number of imports between a file and each file that loads it. */
function measureDistances(file: string, imports: Imports): Map<string, number> {
  const distances = new Map([[file, 0]]);
  // Iterating a Map also visits entries that are added during the iteration.
  for (const [reached, distance] of distances) {
    for (const [importer, loaded] of imports) {
      if (loaded.includes(reached) && !distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  return distances;
}

/** A word of the file name weighs more than a folder. So `console/invitations` tests `members/answer-invitation`. */
function compare(test: string, mirror: string): number {
  const [one, other] = [test.replace(/\..*$/, '').split('/'), mirror.split('/')];
  const differs = one.findIndex((name, at) => name !== other[at]);
  const folders = differs === -1 ? one.length : differs;
  const words = new Set(one.flatMap(wordsOf));
  const count = (name: string) => wordsOf(name).filter((word) => words.has(word)).length;
  return folders + 2 * count(other.at(-1)!) + (differs === -1 ? 0 : count(other.at(-2)!));
}

/** Those of a name, in the singular. */
function wordsOf(name: string): string[] {
  return name.split('-').map((word) => word.replace(/(?<=\w{3})s$/, ''));
}
