/**
 * Makes all files say the names and the repository that `release.json` has, and the manifests its version.
 *
 *     node scripts/release-names.ts
 *
 * What it replaces are the names and the version of the manifests, in all files of git but the changelog and the decisions. A test
 * compares the manifests with `release.json`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** What the manifests have as well. */
export interface Names {
  /** All packages have it. */
  readonly version: string;
  /** Where git clones from. */
  readonly repository: string;
  /** The npm package of the contract. */
  readonly contract: string;
  /** The npm package of the SDK for TypeScript. */
  readonly typescript: string;
  /** The module path of the SDK for Go. */
  readonly go: string;
  /** The crate of the SDK for Rust. Programs say `boxoffice::`, whatever its name is. */
  readonly rust: string;
  /** The name of the SDK for Python on PyPI. Programs import `boxoffice`, whatever it is. */
  readonly python: string;
}

/** What `release.json` has. `''`: the operator of the repository has not said it yet. */
export interface Release extends Names {
  /** Where people report a vulnerability: an address, or a page. */
  readonly security: string;
  /** The address of what builds releases, as provenance names it. */
  readonly builder: string;
}

/** History keeps the names of its day. */
const HISTORY = /^(?:CHANGELOG\.md$|docs\/decisions\/)/;
/** Packages have one version. That of `bench/peers` is none of them. */
const MANIFEST = /^(?!bench\/)(?:.*\/)?(?:package\.json|Cargo\.toml|pyproject\.toml)$/;
const PACKAGES = [
  'package.json',
  'pages/package.json',
  'relay/package.json',
  'sdk/go/package.json',
  'sdk/rust/package.json',
];
/** Only here, and where it is installed, is the name of the crate not a word like any other. */
const CRATE_FILES = ['sdk/rust/Cargo.toml', 'sdk/rust/Cargo.lock'];
/** The same of Python. */
const PYTHON_FILE = 'sdk/python/pyproject.toml';

export function readRelease(root: string): Release {
  return JSON.parse(readFileSync(join(root, 'release.json'), 'utf8'));
}

/** What the manifests say, in the form of `release.json`. It throws if they differ from each other. */
export function readManifests(root: string): Names {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const contract = JSON.parse(read('proto/package.json'));
  const sdk = JSON.parse(read('sdk/typescript/package.json'));
  const others = PACKAGES.map((path) => JSON.parse(read(path)));
  const cargo = read('sdk/rust/Cargo.toml');
  const python = read(PYTHON_FILE);
  return {
    version: onlyOne('versions', [
      ...[contract, sdk, ...others].map(({ version }) => version),
      firstIn(cargo, /^version = "(.*)"$/m),
      firstIn(python, /^version = "(.*)"$/m),
    ]),
    repository: onlyOne('repositories', [
      ...[contract, sdk, others[0]].map(({ repository }) => repository.url.replace(/^git\+/, '')),
      firstIn(cargo, /^repository = "(.*)"$/m),
      firstIn(python, /^Repository = "(.*)"$/m),
    ]),
    contract: contract.name,
    typescript: sdk.name,
    go: firstIn(read('sdk/go/go.mod'), /^module (.*)$/m),
    rust: firstIn(cargo, /^name = "(.*)"$/m),
    python: firstIn(python, /^name = "(.*)"$/m),
  };
}

function onlyOne(what: string, found: readonly string[]): string {
  const different = [...new Set(found)];
  if (different.length > 1) throw new Error(`different ${what}: ${different.join(', ')}`);
  return different[0]!;
}

function firstIn(text: string, pattern: RegExp): string {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`nothing is like ${pattern}`);
  return found;
}

/** The text of a file, with the new names instead of the old ones, and of a manifest with the new version. */
export function rename(path: string, text: string, from: Names, to: Names): string {
  if (HISTORY.test(path)) return text;
  // `@boxoffice/sdk` is no part of `@boxoffice/sdk-go`.
  const names = (['repository', 'contract', 'typescript', 'go'] as const).map(
    (name) => [new RegExp(`${escaped(from[name])}(?![\\w-])`, 'g'), to[name]] as const,
  );
  const crate = escaped(from.rust);
  const installed = [new RegExp(`(?<=^cargo add )${crate}$`, 'gm'), to.rust] as const;
  const named = [new RegExp(`(?<=^name = ")${crate}(?="$)`, 'gm'), to.rust] as const;
  const python = escaped(from.python);
  const pythonInstalled = [
    [new RegExp(`(?<=^pip install )${python}$`, 'gm'), to.python],
    [new RegExp(`^${python}(?===)`, 'gm'), to.python],
  ] as const;
  const pythonNamed = [new RegExp(`(?<=^name = ")${python}(?="$)`, 'm'), to.python] as const;
  const version = escaped(from.version);
  const versions = [
    [new RegExp(`(?<=^(?: {2}"version": |version = )")${version}(?=")`, 'gm'), to.version],
    // The packages need each other.
    [new RegExp(`(?<="@[^"]*": "\\^?)${version}(?=")`, 'g'), to.version],
  ] as const;
  return [
    ...names,
    installed,
    ...pythonInstalled,
    ...(CRATE_FILES.includes(path) ? [named] : []),
    ...(path === PYTHON_FILE ? [pythonNamed] : []),
    ...(MANIFEST.test(path) ? versions : []),
  ].reduce((renamed, [old, name]) => renamed.replace(old, () => name), text);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function renameAll(): void {
  const [from, to] = [readManifests(ROOT), readRelease(ROOT)];
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  const paths = listed.split('\0').filter((path) => path !== '' && path !== 'release.json');
  for (const path of paths) {
    const bytes = readFileSync(join(ROOT, path));
    // Pictures and the like.
    if (bytes.includes(0)) continue;
    const text = bytes.toString();
    const renamed = rename(path, text, from, to);
    if (renamed === text) continue;
    writeFileSync(join(ROOT, path), renamed);
    console.log(path);
  }
  const next = ['npm install --package-lock-only', 'npm run proto', 'npm run generate -w sdk/go'];
  console.log(['then:', ...next, 'npm run generate -w sdk/rust', 'npm run check'].join('\n  '));
}

if (import.meta.main) renameAll();
