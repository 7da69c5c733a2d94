/** What the types of the SDKs for Go and Rust are made from. Their files are compared in `test/sdk`, where the compilers are. */
import { beforeAll, expect, test } from 'vitest';
import { type Description, describeRest } from '../../../scripts/describe-rest.ts';
import { type Field, makeModel } from '../../../scripts/rest-structs/model.ts';

let description: Description;

beforeAll(async () => {
  description = await describeRest();
});

/** The description with another text in the answer of one operation. */
function changed(path: string, from: string, to: string): Description {
  const before = JSON.stringify(description.paths[path]);
  const after = before.replaceAll(from, to);
  expect(after).not.toBe(before);
  return { paths: { ...description.paths, [path]: JSON.parse(after) } };
}

function fieldOf(struct: string, name: string): Field {
  const found = makeModel(description).structs.find((each) => each.name === struct);
  return found!.fields.find((each) => each.name === name)!;
}

test('a type that several places make has the members of all of them', () => {
  expect(fieldOf('LedgerEntry', 'kind')).toMatchObject({ isOptional: false });
  expect(fieldOf('LedgerEntry', 'posting_seq')).toMatchObject({
    kind: { is: 'integer', size: '64 bits' },
    isOptional: true,
    doc: expect.stringMatching(/Only the list of the ledger has it$/),
  });
});

test('null counts as absent', () => {
  expect(fieldOf('Burn', 'empty_at')).toMatchObject({
    kind: { is: 'time' },
    isOptional: true,
    doc: expect.stringContaining('. Absent: '),
  });
});

test('a list that is separated by commas has the words that its description names', () => {
  expect(fieldOf('ListLedger', 'kinds')).toMatchObject({
    kind: { is: 'list', of: { is: 'words', name: 'LedgerKind' } },
    doc: 'Only these kinds',
  });
  expect(fieldOf('PullEvents', 'types')).toMatchObject({ kind: { is: 'list', of: { is: 'event type' } } });
});

test('limits of a body are told, but not those that only keep numbers exact', () => {
  expect(fieldOf('SetAlertThreshold', 'below_hours').doc).toBe('For `runway`: hours. 1 to 8760');
  expect(fieldOf('SetAlertThreshold', 'below_micros').doc).toBe('For `balance`: millionths of a US dollar');
});

test.each([
  [
    'an object without a name',
    '/v1/mail',
    '"email":{',
    '"post":{"type":"object","properties":{}},"email":{',
    'MailSettings.post has no name',
  ],
  ['words without a type', '/v1/billing/runway', '"7d"', '"8d"', 'there is no type for 1h, 24h, 8d'],
  [
    'a place that is gone',
    '/v1/usage/summary',
    '"rows"',
    '"lines"',
    'there is nothing at GET /v1/usage/summary rows',
  ],
])('%s fails', (_, path, from, to, message) => {
  expect(() => makeModel(changed(path, from, to))).toThrow(message);
});
