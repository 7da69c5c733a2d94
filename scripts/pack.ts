/**
 * Builds and packs the packages for npm, as they are published.
 *
 *     npm run pack                              node_modules/.cache/packages/*.tgz
 *     npm run pack -- <folder> [package ...]    <folder>/*.tgz, of the packages in these folders of the repository
 *
 * npm runs no scripts of ours here (`.npmrc`), so `npm publish` in the folder of a package would leave out what is
 * built. Therefore the manifests are private, which npm refuses to publish. The packages of this script are not.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stageService } from './stage-service.ts';

/** A package comes after those that it needs. The service is the last. */
const FOLDERS = ['proto', 'sdk/typescript', '.'];

interface Manifest {
  readonly name: string;
  readonly files: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
  readonly bin?: unknown;
}

const ROOT = join(import.meta.dirname, '..');

/** Writes the packages to a folder, and returns their paths. */
export function packAll(to: string, folders: readonly string[] = FOLDERS): string[] {
  mkdirSync(to, { recursive: true });
  const staging = mkdtempSync(join(tmpdir(), 'boxoffice-pack-'));
  try {
    return folders.map((folder) => pack(folder, staging, resolve(to)));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function pack(folder: string, staging: string, to: string): string {
  const source = join(ROOT, folder);
  const staged = folder === '.' ? join(staging, 'service') : join(staging, folder);
  const read: Manifest & { readonly private?: boolean } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  );
  const { private: _, scripts, ...shared } = read;
  if (scripts?.build) npm(['run', 'build'], source);
  mkdirSync(staged, { recursive: true });
  for (const entry of [...shared.files, 'README.md', 'LICENSE']) {
    cpSync(join(source, entry), join(staged, entry), { recursive: true });
  }
  const own = folder === '.' ? stageService(ROOT, staged, join(staging, 'proto')) : {};
  const manifest = { ...shared, ...own };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  giveUsualRights(staged);
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', to], staged)) as [Packed];
  const missing = findMissing(manifest, packed);
  if (missing.length > 0) throw new Error(`${manifest.name} lacks ${missing.join(', ')}`);
  return join(to, packed.filename);
}

/** A clone has the rights that the umask of its user leaves, and npm packs them. A package is the same from each clone. */
function giveUsualRights(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** What `npm pack` says. */
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** What a manifest offers, but the package has no file for. */
export function findMissing(
  { exports: exported, bin }: Pick<Manifest, 'exports' | 'bin'>,
  { files }: Pick<Packed, 'files'>,
): string[] {
  const paths = files.map(({ path }) => path);
  return textsIn([exported, bin])
    .map((target) => target.replace(/^\.\//, ''))
    .filter((target) => {
      const [start, end] = target.split('*') as [string, string?];
      const fits = (path: string) =>
        end === undefined ? path === start : path.startsWith(start) && path.endsWith(end);
      return !paths.some(fits);
    });
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function npm(args: readonly string[], folder: string): string {
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

if (import.meta.main) {
  const [to = join(ROOT, 'node_modules/.cache/packages'), ...folders] = process.argv.slice(2);
  for (const path of packAll(to, folders.length > 0 ? folders : FOLDERS)) console.log(path);
}
