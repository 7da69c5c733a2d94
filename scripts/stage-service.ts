/**
 * Puts the service as a package for npm into a folder: its programs as JavaScript, because Node runs no TypeScript of packages.
 *
 * Types become spaces, so errors name lines and columns of the sources.
 */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix } from 'node:path';

/** What `bin/boxoffice` runs. The package has what these import, and no other program. */
const PROGRAMS = ['src/run/main.ts', 'src/run/admin/main.ts', 'scripts/demo.ts'];
/** Packages of this repository, inside the package of the service: it needs exactly these. */
const BUNDLED = ['@boxoffice/contract', '@boxoffice/pages'];
/** How a program names another one, in an import or a URL. */
const REFERENCE = /(?<=['"])(\.{1,2}\/[\w./-]+)\.ts(?=['"])/g;
/** Messages name commands. There is no `npm run` where a package was installed. */
const COMMANDS = [
  ['npm run admin --', 'npx boxoffice admin'],
  ['See it all at work: npm run demo', 'See it all at work: npx boxoffice demo'],
] as const;

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly inBundle?: boolean;
}

/** `contract`: the folder of the staged contract. Returns what the manifest says otherwise than that of the repository. */
export function stageService(root: string, to: string, contract: string): object {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), text, { mode: path.startsWith('bin/') ? 0o755 : 0o644 });
  };
  for (const [path, program] of findPrograms(root)) write(asScript(path), program);
  write('bin/boxoffice', readFileSync(join(root, 'bin/boxoffice'), 'utf8').replaceAll('.ts"', '.js"'));

  cpSync(contract, join(to, 'node_modules/@boxoffice/contract'), { recursive: true });
  const pages = 'node_modules/@boxoffice/pages';
  for (const path of globSync('*.ts', { cwd: join(root, 'pages') })) {
    write(`${pages}/${asScript(path)}`, readScript(join(root, 'pages', path)).text);
  }
  write(
    `${pages}/package.json`,
    readFileSync(join(root, 'pages/package.json'), 'utf8').replace('.ts"', '.js"'),
  );

  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  write('npm-shrinkwrap.json', `${JSON.stringify(makeShrinkwrap(lock), undefined, 2)}\n`);
  const onlyHere = {
    files: undefined,
    devDependencies: undefined,
    workspaces: undefined,
    allowScripts: undefined,
  };
  return { ...onlyHere, bundleDependencies: BUNDLED };
}

/** The programs and all that they import, by path. */
function findPrograms(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = [...PROGRAMS];
  // Grows while it is read.
  for (const path of waiting) {
    if (found.has(path)) continue;
    const { text, references } = readScript(join(root, path));
    found.set(path, text);
    waiting.push(...references.map((each) => posix.join(posix.dirname(path), each)));
  }
  return found;
}

function readScript(path: string): { readonly text: string; readonly references: string[] } {
  const script = stripTypeScriptTypes(readFileSync(path, 'utf8'));
  return {
    text: COMMANDS.reduce((text, [here, there]) => text.replaceAll(here, there), script).replaceAll(
      REFERENCE,
      '$1.js',
    ),
    references: [...script.matchAll(REFERENCE)].map(([reference]) => reference),
  };
}

function asScript(path: string): string {
  return path.replace(/\.ts$/, '.js');
}

/**
 * The versions and checksums of the repository, for those who install the package: npm takes a file of this name from a package, and
 * `package-lock.json` not.
 */
export function makeShrinkwrap({ packages, ...lock }: Lock): Lock {
  const { workspaces: _, devDependencies: __, ...root } = packages[''] as object & Record<string, unknown>;
  const bundled = BUNDLED.map((name) => {
    const { version, license, dependencies } = packages[packages[`node_modules/${name}`]!.resolved!]!;
    return [`node_modules/${name}`, { version, license, dependencies, inBundle: true }] as const;
  });
  const needed = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  );
  const top = { ...root, bundleDependencies: BUNDLED } as LockedPackage;
  return { ...lock, packages: Object.fromEntries([['', top], ...bundled, ...needed]) };
}
