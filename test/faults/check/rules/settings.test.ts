import { expect, test } from 'vitest';
import type { Database } from '../../../../faults/check/database.ts';
import { Facts } from '../../../../faults/check/facts.ts';
import { type Entry, readJournal } from '../../../../faults/check/journal.ts';
import { runRules } from '../../../../faults/check/rule.ts';
import { SETTING_RULES } from '../../../../faults/check/rules/settings.ts';
import { entry, NO_READS } from '../entries.ts';

const RULE = SETTING_RULES[0]!.name;
const TENANT = 't_0123456789abcdef';
const TOO_MANY = { outcome: 'refused', status: 429 } as const;

const set = (below_micros: number, at: readonly [number, number | null], rest = {}) =>
  entry('alert.set', { key: 'k', below_micros, idempotency: `${below_micros}` }, at, rest);

/** `shown`: the threshold at the end. */
async function judge(entries: readonly Entry[], shown: number) {
  const get = async () => ({ thresholds: [{ kind: 'balance', below_micros: shown }] });
  const reads = { ...NO_READS, tenants: [TENANT], get };
  const facts = new Facts(await readJournal(entries), undefined as unknown as Database, reads);
  return runRules(SETTING_RULES, facts);
}

test.each([
  ['the last one', 2, [set(1, [0, 5]), set(2, [6, 9])]],
  ['either of two at once', 1, [set(1, [0, 8]), set(2, [6, 9])]],
  ['one without an answer', 1, [set(1, [0, null]), set(2, [6, 9])]],
  [
    'one without an answer whose repetition came too soon',
    1,
    [set(2, [0, 5]), set(1, [6, null]), set(1, [7, 8], TOO_MANY)],
  ],
])('is %s', async (_, shown, entries) => {
  const { problems, looked } = await judge(entries, shown);
  expect(problems).toEqual([]);
  expect(looked[RULE]).toBe(1);
});

test.each([
  ['one of before', 1, '[2]', [set(1, [0, 5]), set(2, [6, 9])]],
  ['one of before, which was repeated', 1, '[2]', [set(1, [0, null]), set(1, [2, 4]), set(2, [6, 9])]],
  ['one that was refused', 1, '[2]', [set(2, [0, 5]), set(1, [6, 9], TOO_MANY)]],
  ['none', 3, '[1] or [2]', [set(1, [0, null]), set(2, [6, 9])]],
])('is found if it is %s', async (_, shown, wanted, entries) => {
  expect((await judge(entries, shown)).problems).toEqual([
    `${RULE}: /v1/alerts of ${TENANT} shows [${shown}], and not ${wanted}`,
  ]);
});
