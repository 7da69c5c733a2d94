/** What `afdocs` says of the documents, which tries what agents need of a site. `site.test.ts` has its main rules for every page. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { installSuites, runSuite } from '../../../suites/run-suite.ts';
import { useService } from '../../../support/service.ts';

const app = useService({ payments: false });
beforeAll(installSuites);

/** Checks that say nothing here, and why. */
const SKIPPED: Readonly<Record<string, string>> = {
  'llms-txt-coverage': 'compares with a sitemap, and there is none: the list is made from the pages',
  'auth-alternative-access': 'asks for a way around a log-in, and documents need none',
};

test('each check passes, and the score is 100', async () => {
  const config = join(mkdtempSync(join(inject('scratch'), 'afdocs-')), 'config.yml');
  // A busy machine is no fault of the site.
  const options = { requestTimeout: 120_000, requestDelay: 0, maxConcurrency: 2 };
  writeFileSync(config, JSON.stringify({ url: `${app.url}/docs`, options }));
  const { stdout, stderr } = await runSuite(
    'afdocs',
    ...['check', `${app.url}/docs`, '--config', config, '--canonical-origin', app.config.publicUrl],
    ...['--format', 'json', '--score', '--sampling', 'deterministic', '--max-links', '20'],
  );
  const { results, scoring } = JSON.parse(stdout || stderr);
  const others = results.filter(({ status }: { status: string }) => status !== 'pass');
  expect(others.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual(
    Object.keys(SKIPPED).map((id) => [id, 'skip']),
  );
  expect([results.length, scoring.overall]).toEqual([28, 100]);
});
