/** The official suite of the Model Context Protocol at `/mcp`. It cannot send a key, so a proxy adds one. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createAgentKey } from '../../../../src/access/agents/create-agent-key.ts';
import { inTransaction } from '../../../../src/base/db/transaction.ts';
import { findFreePort } from '../../../../src/run/free-port.ts';
import { installSuites, runSuite } from '../../../suites/run-suite.ts';
import { useService } from '../../../support/service.ts';
import { idOf, OPERATOR } from '../../../support/tenants.ts';

/** The door takes pages of its own origin, which the suite tries: that of the proxy. */
const proxyPort = await findFreePort('127.0.0.1');
const proxyUrl = `http://127.0.0.1:${proxyPort}`;
const app = useService({ mcp: true, publicUrl: proxyUrl, strictTransportSeconds: 0 });

/** In the pinned suite. */
const SCENARIOS = 65;

const WANTS_TOOL = 'wants a tool of a given name, such as test_simple_text';
const WANTS_RESOURCES = 'wants resources, of which there are none';
const WANTS_PROMPTS = 'wants prompts, of which there are none';
const WANTS_STREAM = 'wants a stream that stays open, and answers here end';

/** What applies to this door, by revision, with the checks that cannot pass, and why. */
const APPLICABLE: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  '2025-11-25': {
    'server-initialize': {},
    ping: {},
    'tools-list': {},
    'dns-rebinding-protection': {},
  },
  '2026-07-28': {
    'tools-list': {},
    'dns-rebinding-protection': {},
    'http-header-validation': {},
    'input-required-result-unsupported-methods': {},
    'server-sse-multiple-streams': {},
    'server-stateless': {
      'sep-2575-server-rejects-undeclared-capability': WANTS_TOOL,
      'sep-2575-missing-capability-http-400': WANTS_TOOL,
      'sep-2575-http-server-no-independent-requests-on-stream': WANTS_TOOL,
      'sep-2575-server-no-log-without-loglevel': WANTS_TOOL,
      'sep-2575-server-sends-subscription-ack': WANTS_STREAM,
      'sep-2575-server-tags-subscription-id': WANTS_STREAM,
    },
    caching: {
      'sep-2549-prompts-list-caching-hints': WANTS_PROMPTS,
      'sep-2549-resources-list-caching-hints': WANTS_RESOURCES,
      'sep-2549-resources-templates-list-caching-hints': WANTS_RESOURCES,
    },
  },
};

/** What does not apply: names, or how they begin. */
const NOT_APPLICABLE: readonly (readonly [RegExp, string])[] = [
  [/^tools-call-|^json-schema-|^http-custom-header-/, WANTS_TOOL],
  [/^elicitation-|^input-required-result-(?!unsupported-methods$)/, WANTS_TOOL],
  [/^server-sse-polling$/, WANTS_STREAM],
  [/^resources-|^sep-2164-|^sep-2640-/, WANTS_RESOURCES],
  [/^prompts-/, WANTS_PROMPTS],
  [/^completion-complete$/, 'wants completion of arguments of prompts'],
  [/^logging-set-level$/, 'wants logs for clients'],
  [/^server-session-lifecycle$/, 'wants sessions: each request here stands alone'],
  [/^tasks-/, 'wants an extension for long work'],
];

const proxy = createServer((asked, answer) => {
  const { host: _host, ...headers } = asked.headers;
  const url = new URL(asked.url!, app.url);
  const sent = request(
    url,
    { method: asked.method!, headers: { ...headers, authorization: `Bearer ${key}` } },
    (got) => {
      answer.writeHead(got.statusCode!, got.headers);
      got.pipe(answer);
    },
  );
  sent.once('error', () => answer.destroy());
  asked.pipe(sent);
});
let key: string;

beforeAll(async () => {
  await installSuites();
  const caller = { tenant: idOf(await app.paidTenant()), actor: OPERATOR };
  const wanted = { name: 'suite', role: 'finance', writesPerDay: 100, days: 1 } as const;
  key = (await inTransaction(app.service.deps.db, (tx) => createAgentKey(tx, caller, wanted))).plaintext;
  await new Promise<void>((resolve) => proxy.listen(proxyPort, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => proxy.close(resolve)));

test('each scenario of the suite applies, or has a reason why not', async () => {
  const { stdout } = await runSuite('conformance', 'list', '--server');
  const listed = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name!);
  const applicable = new Set(Object.values(APPLICABLE).flatMap((of) => Object.keys(of)));
  const undecided = listed.filter(
    (name) =>
      Number(applicable.has(name)) + NOT_APPLICABLE.filter(([names]) => names.test(name)).length !== 1,
  );
  expect({ undecided, count: listed.length }).toEqual({ undecided: [], count: SCENARIOS });
});

interface Check {
  readonly id: string;
  readonly status: string;
}

const cases = Object.entries(APPLICABLE).flatMap(([revision, of]) =>
  Object.entries(of).map(([name, excused]) => [name, revision, excused] as const),
);

test.each(cases)('%s passes at %s', async (name, revision, excused) => {
  const folder = mkdtempSync(join(inject('scratch'), 'conformance-'));
  const run = await runSuite(
    'conformance',
    ...['server', '--url', `${proxyUrl}/mcp`, '--scenario', name],
    ...['--spec-version', revision, '--output-dir', folder],
  );
  const [results = ''] = readdirSync(folder);
  const checks: Check[] = JSON.parse(readFileSync(join(folder, results, 'checks.json'), 'utf8'));
  const idsOf = (status: string) => checks.filter((check) => check.status === status).map(({ id }) => id);
  expect(idsOf('FAILURE').toSorted(), run.stdout).toEqual(Object.keys(excused).toSorted());
  expect(idsOf('SUCCESS').length, run.stdout).toBeGreaterThan(0);
});
