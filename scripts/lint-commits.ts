/**
 * Check the subjects of commits: a list of commits shows so many characters of each.
 *
 *     node scripts/lint-commits.ts
 */
import { execFileSync } from 'node:child_process';

const SUBJECT_MAX = 72;

/** Older commits stay as they are. */
const SINCE = '2026-11-24T00:00:00Z';

export function findLongSubjects(subjects: readonly string[]): string[] {
  return subjects.filter((subject) => [...subject].length > SUBJECT_MAX);
}

/** Subjects of the commits that are here: none in a copy without git, and only some in a shallow clone. */
export function readSubjects(folder: string): string[] {
  try {
    const log = execFileSync('git', ['log', `--since=${SINCE}`, '--format=%s', '--no-merges'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return log.split('\n').filter((subject) => subject !== '');
  } catch {
    return [];
  }
}

if (import.meta.main) {
  const subjects = readSubjects('.');
  const long = findLongSubjects(subjects);
  for (const subject of long)
    console.error(`${subject}\n  write: a commit subject of at most ${SUBJECT_MAX} characters`);
  console.log(`subjects of ${subjects.length} commits: ${long.length} findings`);
  process.exitCode = long.length > 0 ? 1 : 0;
}
