import { defineConfig } from 'vitest/config';
import { CountReporter } from './test/support/count-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new CountReporter()],
    // Each test file keeps PostgreSQL as busy as itself.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
