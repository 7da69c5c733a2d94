/** The commands of README's "Five minutes" work in their order, up to those over gRPC. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MACHINE } from '../support/environment.ts';
import { useService } from '../support/service.ts';

const app = useService();
const run = promisify(execFile);
let folder: string;
let steps: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'five-minutes-'));
  await writeFile(join(folder, 'curl.mjs'), CURL);
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, text = ''] = /^## Five minutes\n([\s\S]*?)^## /m.exec(readme) ?? [];
  steps = text.split(/^\*\*\d+\. /m).slice(1);
});

afterAll(() => rm(folder, { recursive: true }));

/** In place of curl, which not every machine has: the options that README uses. */
const CURL = `
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
const { values, positionals } = parseArgs({ allowPositionals: true, options: {
  silent: { type: 'boolean', short: 's' }, request: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true }, data: { type: 'string', short: 'd' } } });
const body = values.data?.startsWith('@') ? readFileSync(values.data.slice(1)) : values.data;
const headers = (values.header ?? []).map((line) => line.split(/: (.*)/).slice(0, 2));
const answer = await fetch(positionals[0], { method: values.request ?? (body ? 'POST' : 'GET'), headers, body });
process.stdout.write(await answer.text());`;

/** Variables last from step to step. Where README says `# yours`, the reader takes the secret of the last answer. */
const shell = (commands: string) => `
touch own && . ./own
curl() { last=$(node curl.mjs "$@"); echo "$last"; }
secret() { node -p '(({ api_key, credential }) => api_key ?? credential)(JSON.parse(process.argv[1]))' "$last"; }
${commands.replace(/^(\w+)=.*# yours$/gm, '$1=$(secret)').replaceAll('http://127.0.0.1:8080', app.url)}
declare -p last KEY RELAY CREDENTIAL > own 2> /dev/null || true`;

/** The answers to the commands of a step. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function follow(step: string): Promise<any[]> {
  const commands = [...step.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('');
  const { stdout } = await run('bash', ['-ec', shell(commands)], { cwd: folder, env: MACHINE });
  const answers = stdout.trim().split('\n');
  return answers.map((answer) => JSON.parse(answer));
}

test('a reader sees what a session cost', async () => {
  const [signUp, pay, enter, makeKey, report, read] = steps as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [{ checkout_url }] = await follow(signUp);
  app.sandbox.control.pay(/cs_test_\w+$/.exec(checkout_url)![0], { card: '4242424242424242' });
  await app.settled();
  const [{ balance }] = await follow(pay);
  expect(balance.display).toBe('$20.000000');
  const [, { room, username }] = await follow(enter);
  await follow(makeKey);
  const [, batch] = /```json\n([\s\S]*?)```/.exec(report)!;
  await writeFile(join(folder, 'batch.json'), batch!);
  const [{ charged, total }, again] = await follow(report);
  expect([charged, again.charged, again.duplicates]).toEqual([2, 0, 2]);
  await vi.waitFor(async () => {
    const [{ sessions }] = await follow(read);
    expect(sessions).toMatchObject([{ room, participant: username, records: 2, total }]);
  });
});
