import { join } from 'node:path';
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { CHROMIUM_PATH } from './scripts/browser-path.ts';
import { RunReporter } from './test/support/run-reporter.ts';
import { SlowestFirst } from './test/support/slowest-first.ts';
import { listWithoutDatabase } from './test/support/without-database.ts';

// What a run compiles is kept: services and commands that tests start as processes of their own begin sooner.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

const ONE_SERVER: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'one server',
    include: ['test/**/*.test.ts', 'relay/test/**/*.test.ts'],
    provide: { stepForms: false, archives: false },
  },
};

/** What moves balances. The rest of `money` reads, with the same statements in both forms. */
const CHARGING = ['accounts', 'alerts', 'cards', 'checkouts', 'ledger', 'parked', 'payments']
  .concat('provider-events', 'records', 'reversals', 'tenant-status', 'top-ups', 'usage')
  .map((each) => `money/${each}`);

/** What has statements for a distributed database. They run on one server, too. */
const WITH_STEP_FORMS = [
  ...['access/sessions', 'base/tenants', 'control', 'events', 'money/grants', ...CHARGING].map(
    (each) => `test/${each}/**/*.test.ts`,
  ),
  'test/base/db/snapshot.test.ts',
  'test/run/watch-servers.test.ts',
  'test/money/statements/tell-statements.test.ts',
  'test/run/sweep.test.ts',
];

const STEP_FORMS: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'step forms',
    include: WITH_STEP_FORMS,
    exclude: [
      // Citus plans for itself.
      ...['test/control/rooms/kept-plans.test.ts', 'test/control/admission/entry-state.test.ts'],
      // Without a database there are no statements: the project `one server` runs the same.
      ...listWithoutDatabase(WITH_STEP_FORMS),
    ],
    provide: { stepForms: true, archives: false },
  },
};

/** What tenants see of their records, while each moves into the archive as soon as it is charged. */
const ARCHIVED: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'archived',
    include: [
      ...[
        'usage',
        'usage-lookup',
        'usage-records',
        'usage-summary',
        'ledger',
        'billing',
        'sessions',
        'participants',
      ]
        .concat('simulation')
        .map((each) => `test/doors/rest/${each}.test.ts`),
      'test/control/people/advance-erasures.test.ts',
    ],
    provide: { stepForms: false, archives: true },
  },
};

export default defineConfig({
  test: {
    // A cluster has the step forms anyway.
    projects: [ONE_SERVER, ARCHIVED, ...(process.env.CITUS_URL === undefined ? [STEP_FORMS] : [])],
    exclude: [
      ...configDefaults.exclude,
      ...(CHROMIUM_PATH ? [] : ['test/browser/**', 'test/relay/**', 'relay/**']),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/patience.ts'],
    reporters: ['default', new RunReporter()],
    // Each test file keeps PostgreSQL as busy as itself, but many wait for processes and time limits.
    maxWorkers: 5,
    // Much runs once, and creates many short-lived objects: compile it soon, and collect them seldom.
    execArgv: ['--always-sparkplug', '--max-semi-space-size=64', '--min-semi-space-size=16'],
    sequence: { sequencer: SlowestFirst },
    // Loading the service again for each file would cost a third of the time. So a file leaves nothing behind.
    isolate: false,
    // A slow or busy machine is no fault: only what fails is waited for so long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
