/** The versions that an upgrade is tried from: the last tag, and the commit before each of the newest migrations. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './old-tree.ts';

export interface OldVersion {
  /** For the report: the tag, or the first migration that it does not have. */
  readonly name: string;
  readonly commit: string;
}

/**
 * Newest first, those of `migrations` migrations at most. A shallow clone lacks the commits of long ago: their versions
 * are left out. Without Git there are none.
 */
export function findOldVersions(migrations: number): readonly OldVersion[] {
  const found: OldVersion[] = [];
  const add = (name: string, revision: string) => {
    const commit = git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
    if (commit && !found.some((each) => each.commit === commit) && !wasEditedSince(commit)) {
      found.push({ name, commit });
    }
  };
  for (const name of namesOfMigrations().toReversed().slice(0, migrations))
    add(`before ${name}`, before(name));
  const tag = git('describe', '--tags', '--abbrev=0');
  if (tag) add(tag, tag);
  return found;
}

function namesOfMigrations(): string[] {
  return readdirSync(join(ROOT, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

/** What added the file has a parent without it. A file that is not committed is not in HEAD. */
function before(name: string): string {
  const adding = git(
    'log',
    '--no-renames',
    '--diff-filter=A',
    '--format=%H',
    '-1',
    '--',
    `migrations/${name}`,
  );
  return adding ? `${adding}^` : 'HEAD';
}

/** A version whose own migrations are not those of today was never released. */
function wasEditedSince(commit: string): boolean {
  const files = ['migrations', ':!migrations/distributed'];
  return git('diff', '--no-renames', '--diff-filter=MD', '--name-only', commit, '--', ...files) !== '';
}

/** What it prints; empty where it fails. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}
