/** What clients got is told by its digests, and found where it stands. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Facts } from '../../faults/check/facts.ts';
import { readJournal } from '../../faults/check/journal.ts';
import { runRules } from '../../faults/check/rule.ts';
import { SECRET_RULES } from '../../faults/check/rules/secrets.ts';
import { digestOf, secretsIn } from '../../faults/load/secrets.ts';
import { openScratch } from '../support/scratch.ts';
import { entry, NO_READS } from './check/entries.ts';

const PART = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE';
const KEY = `svc_0123456789abcdef_${PART}`;
const HMAC = 'C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs';

describe('the secret of', () => {
  test.each([
    ['an API key', { json: { api_key: KEY, key: {} } }, [KEY, PART]],
    [
      'a device credential',
      { json: { credential: `dev_0123456789abcdef_${PART}` } },
      [expect.anything(), PART],
    ],
    ['a webhook', { json: { secret: `whsec_${HMAC}=` } }, [HMAC]],
    ['a token of a join', { json: { token: `eyJhbGci.eyJ0aWQi.${PART}` } }, [PART]],
    ['a token of a mint', { message: { token: `eyJhbGci.eyJ0aWQi.${PART}` } }, [PART]],
    ['a session', { headers: new Headers({ 'set-cookie': `name=${PART}; Path=/` }) }, [PART]],
  ])('%s', (_, reply, parts) => {
    expect(secretsIn(reply)).toEqual([{ what: expect.any(String), parts }]);
  });

  test('no answer, or one without a secret', () => {
    expect(secretsIn({ outcome: 'unknown', headers: new Headers() })).toEqual([]);
    expect(secretsIn({ json: { keys: [{ id: PART }], next_cursor: PART } })).toEqual([]);
  });
});

const scratch = openScratch('boxoffice-secrets-');
afterAll(() => scratch.remove());

const [, LOGS] = SECRET_RULES;

test.each([
  [
    `{"msg":"wrong key ${KEY}"}`,
    ['no log of a service has a secret in plain text: the API key of t_1 is in a log'],
  ],
  [`authorization: Basic ${PART}`, [expect.stringContaining('API key')]],
  [`a webhook signs with whsec_${HMAC}=`, [expect.stringContaining('webhook')]],
  [`{"key":"svc_0123456789abcdef","hash":"${digestOf(KEY)}"}`, []],
])('the log line %s', async (line, problems) => {
  const log = join(scratch.folder, 'service.log');
  writeFileSync(log, `started\n${line}\n`);
  const got = [...secretsIn({ json: { api_key: KEY, secret: `whsec_${HMAC}=` } })].map(({ what, parts }) =>
    entry('secret.got', { tenant: 't_1', what, digests: parts.map(digestOf) }, [0, 0]),
  );
  const facts = new Facts(await readJournal(got), undefined as never, { ...NO_READS, logs: [log] });
  expect((await runRules([LOGS!], facts)).problems).toEqual(problems);
});
