/** What a run leaves out because this machine lacks it, and how to run it. */
import { spawnSync } from 'node:child_process';
import { CHROMIUM_PATH } from '../../scripts/browser-path.ts';
import { findTool, hasPython } from '../../scripts/toolchains.ts';
import { findMissingCitus } from '../deploy/citus-cluster.ts';
import { findMissingProgram } from '../deploy/ha-cluster.ts';

interface Need {
  /** "the tests of ..." */
  readonly of: string;
  /** What is not there. */
  readonly missing: string | undefined;
  /** What brings it. */
  readonly remedy: string;
}

const missing = (name: string, isThere: boolean) => (isThere ? undefined : name);

function findNeeds(): readonly Need[] {
  return [
    {
      of: 'web pages and relays in a browser',
      missing: missing('Chromium', CHROMIUM_PATH !== undefined),
      remedy: 'install it, or set CHROMIUM_PATH',
    },
    { of: 'what is in Go', missing: missing('Go', findTool('go') !== undefined), remedy: 'install Go 1.24' },
    {
      of: 'what is in Rust',
      missing: missing('cargo', findTool('cargo') !== undefined),
      remedy: 'install Rust 1.88',
    },
    {
      of: 'what is in Python',
      missing: missing('Python with venv', hasPython()),
      remedy: 'install python3 and python3-venv, 3.10 or newer',
    },
    {
      of: 'a standby that loses nothing',
      missing: findMissingProgram(),
      remedy: 'install patroni, etcd, haproxy, pgbouncer and postgresql',
    },
    {
      of: 'alerts',
      missing: missing('promtool', spawnSync('promtool', ['--version']).status === 0),
      remedy: "install Debian's package prometheus",
    },
    { of: 'a failing cluster', missing: findMissingCitus(), remedy: 'install PostgreSQL with Citus' },
    {
      of: 'a cluster',
      missing: missing('a cluster', process.env.CITUS_URL !== undefined),
      remedy: 'CITUS_URL=postgres://... npm test',
    },
  ];
}

/** A line for each group that is left out, and for each of the files in which tests were skipped. */
export function describeLeftOut(skippedIn: readonly string[]): string[] {
  const groups = findNeeds()
    .filter((need) => need.missing !== undefined)
    .map((need) => `left out: the tests of ${need.of}, without ${need.missing}. To run them: ${need.remedy}`);
  const files = Map.groupBy(skippedIn, (file) => file);
  return [...groups, ...[...files].map(([file, tests]) => `skipped: ${tests.length} in ${file}`)];
}
