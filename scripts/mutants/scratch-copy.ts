/** A copy of the working tree to mutate. The checkout itself is never changed. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the checkout, new ones included, and its packages. */
export function copyWorkingTree(from: string, to: string): void {
  for (const file of listFiles(from)) cpSync(join(from, file), join(to, file));
  linkPackages(from, to);
}

/** Link each package separately: tools then write their caches next to the links, not into the checkout. */
export function linkPackages(from: string, to: string): void {
  const packages = join(from, 'node_modules');
  mkdirSync(join(to, 'node_modules'), { recursive: true });
  for (const name of readdirSync(packages)) {
    const isCache = name.startsWith('.') && name !== '.bin';
    if (!isCache) symlinkSync(join(packages, name), join(to, 'node_modules', name));
  }
}

/** Files that are neither ignored nor deleted. */
export function listFiles(root: string): string[] {
  const arguments_ = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', arguments_, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return [...new Set(listed.split('\0'))].filter((file) => file !== '' && existsSync(join(root, file)));
}
