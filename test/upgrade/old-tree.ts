/** The files of an old version, ready to run. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openScratch } from '../support/scratch.ts';

const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '../..');
const SCOPE = '@boxoffice';
/** The service, its commands, the SDK, and the conformance suite with what it reads. */
const PARTS = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'migrations', 'proto', 'pages', 'sandbox'],
  ...['scripts', 'sdk/typescript', 'sdk/conformance', 'test/support', 'docs/vectors'],
];
const CHILD_OF_SUITE = 'sdk/conformance/run-service.ts';

/**
 * Does the work with the folder of the files, which is removed afterwards. Fails if the version needs other packages than those that are
 * installed here.
 */
export async function withOldTree<T>(commit: string, work: (root: string) => Promise<T>): Promise<T> {
  // Inside of `node_modules`, Node would run no TypeScript.
  const scratch = openScratch('boxoffice-upgrade-');
  try {
    return await work(await writeTree(commit, scratch.folder));
  } finally {
    await scratch.remove();
  }
}

async function writeTree(commit: string, folder: string): Promise<string> {
  const [archive, root] = [join(folder, 'tree.tar'), join(folder, 'tree')];
  await run('git', ['archive', '--output', archive, commit, ...PARTS], { cwd: ROOT });
  mkdirSync(root);
  await run('tar', ['-xf', archive, '-C', root]);
  const missing = findMissingPackage(root);
  if (missing !== undefined) throw new Error(`${commit} needs another ${missing} than this version`);
  linkPackages(root);
  startNewChildren(root);
  return root;
}

/** One that the old version has in another version, or at another place. */
function findMissingPackage(root: string): string | undefined {
  const here = packagesOf(ROOT);
  return [...packagesOf(root)].find(([place, version]) => here.get(place) !== version)?.[0];
}

/** The versions of installed packages by their places. Those of this repository have none. */
function packagesOf(root: string): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  const installed = Object.entries(packages).filter(([place]) => place.startsWith('node_modules/'));
  return new Map(
    installed.flatMap(([place, { version }]) => (version === undefined ? [] : [[place, version]])),
  );
}

/** Those of others are shared. Those of this repository are the old ones. */
function linkPackages(root: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(root, 'node_modules')];
  mkdirSync(join(to, SCOPE), { recursive: true });
  for (const name of readdirSync(from)) {
    if (!name.startsWith('.') && name !== SCOPE) symlinkSync(join(from, name), join(to, name));
  }
  const own = { contract: 'proto', pages: 'pages', sdk: 'sdk/typescript' };
  for (const [name, part] of Object.entries(own)) symlinkSync(join(root, part), join(to, SCOPE, name));
}

/** The old suite runs an old service in its own process, and starts a new one as its child, with the same settings. */
function startNewChildren(root: string): void {
  const file = join(root, CHILD_OF_SUITE);
  renameSync(file, `${file}.old`);
  writeFileSync(
    file,
    `process.argv[2] = JSON.stringify({ confusableUsernames: 'refuse', ...JSON.parse(process.argv[2]!) });
     await import(${JSON.stringify(join(ROOT, CHILD_OF_SUITE))});\n`,
  );
}
