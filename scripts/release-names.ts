/**
 * Makes all files say the names, the repository and the version that `release.json` has. A new version gets its heading in the changelogs.
 *
 *     node scripts/release-names.ts
 *
 * What it replaces are the names and the version of the manifests, in all files of git but the changelog and the decisions. Tests
 * compare the manifests with `release.json`, and look for places that it does not find.
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
  /** The public key that signs releases (Ed25519): the line in the middle of its PEM file. */
  readonly key: string;
}

/** History keeps the names of its day. */
const HISTORY = /^(?:CHANGELOG\.md$|docs\/decisions\/)/;
const CHANGELOG = /(?:^|\/)CHANGELOG\.md$/;
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
/** How files name a version of what is released here: images, the module of Go, the crate, the package for Python. */
const VERSIONED = ({ go, rust, python }: Names) => [
  'boxoffice(?:-backup)?:',
  `${escaped(go)} v`,
  `(?<![\\w-])${escaped(rust)} = "`,
  `^name = "${escaped(rust)}"\\nversion = "`,
  `^${escaped(python)}==`,
];
/** What makes the rest from these files. The last two record what later versions must not break. */
const NEXT = [
  'npm install --package-lock-only && npm install --package-lock-only --prefix relay',
  'npm run proto',
  'npm run generate -w sdk/go',
  'npm run generate -w sdk/rust',
  'buf build proto -o proto/baseline.binpb --exclude-source-info',
  'node scripts/event-baseline.ts',
  'npm run check',
];
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
  const versioned = VERSIONED(from).map(
    (start) => [new RegExp(`(?<=${start})${version}(?![\\w.])`, 'gm'), to.version] as const,
  );
  return [
    ...versioned,
    ...names,
    installed,
    ...pythonInstalled,
    ...(CRATE_FILES.includes(path) ? [named] : []),
    ...(path === PYTHON_FILE ? [pythonNamed] : []),
    ...(MANIFEST.test(path) ? versions : []),
  ].reduce((renamed, [old, name]) => renamed.replace(old, () => name), text);
}

/** The changelog with what is unreleased as a version. The heading of what comes next stays. */
export function cutChangelog(text: string, version: string, day: string): string {
  const heading = '## [Unreleased]\n';
  if (!text.includes(heading)) throw new Error('the changelog has no section of what is unreleased');
  if (text.includes(`## [${version}]`)) throw new Error(`the changelog has the version ${version} already`);
  return text.replace(heading, () => `${heading}\n## [${version}] - ${day}\n`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Texts of all files of git by their paths, without pictures and the like. */
export function* readTexts(root: string): Iterable<[path: string, text: string]> {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  for (const path of listed.split('\0').filter((each) => each !== '' && each !== 'release.json')) {
    const bytes = readFileSync(join(root, path));
    if (!bytes.includes(0)) yield [path, bytes.toString()];
  }
}

function renameAll(): void {
  const [from, to] = [readManifests(ROOT), readRelease(ROOT)];
  const day = new Date().toISOString().slice(0, 10);
  for (const [path, text] of readTexts(ROOT)) {
    const isCut = CHANGELOG.test(path) && from.version !== to.version;
    const renamed = rename(path, isCut ? cutChangelog(text, to.version, day) : text, from, to);
    if (renamed === text) continue;
    writeFileSync(join(ROOT, path), renamed);
    console.log(path);
  }
  console.log(['then:', ...NEXT].join('\n  '));
}

if (import.meta.main) renameAll();
