/** The rules of progress. */
import { describe, expect, test } from 'vitest';
import { PROGRESS_RULES } from '../../../../faults/check/rules/progress.ts';
import { entry, judge } from '../entries.ts';

const SILENCE = 'usage is acknowledged again soon after each fault';
const PRECEDENCE = 'usage of tenants that paid is not behind that of others';
const SECOND = 1_000_000;
const report = (at: number, isAnswered: boolean, rest: { readonly tenant?: string } = {}) =>
  entry('usage.report', { key: 'r', records: [], ...rest }, [
    at * SECOND,
    isAnswered ? at * SECOND + 5 : null,
  ]);
const OTHER = { tenant: 't_other' };

describe(SILENCE, () => {
  test('batches without answers for a while, and none at all for longer, are no problem', async () => {
    const { problems, looked } = await judge(PROGRESS_RULES, [
      ...[report(1, true), report(60, false), report(200, false), report(240, true), report(470, true)],
      report(900, true),
    ]);
    expect(problems).toEqual([]);
    expect(looked[SILENCE]).toBe(4);
  });

  test.each([
    ['in the middle', [report(1, true), report(100, false), report(250, false), report(900, true)]],
    ['until the end', [report(1, true), report(100, false), report(341, false)]],
    ['from the beginning', [report(1, false), report(251, false)]],
    // Others are served meanwhile.
    [
      'for one tenant',
      [report(1, false), report(100, true, OTHER), report(200, true, OTHER), report(251, false)],
    ],
  ])('a system that is gone %s is found, once', async (_, entries) => {
    const { problems } = await judge(PROGRESS_RULES, entries);
    expect(problems).toEqual([
      expect.stringMatching(
        `${SILENCE}: no batch of t_0123456789abcdef was acknowledged from \\d+ us on, for \\d{3} s`,
      ),
    ]);
  });

  test('what a tenant that never paid was refused waits for nothing', async () => {
    const refused = (at: number) => ({ ...report(at, true), outcome: 'refused', status: 400 }) as const;
    const signedUp = entry('signup', {}, [0, 1], { answer: { tenant: 't_0123456789abcdef' } });
    const entries = [refused(1), refused(250), refused(400)];
    expect((await judge(PROGRESS_RULES, [signedUp, ...entries])).problems).toEqual([]);
    expect((await judge(PROGRESS_RULES, entries)).problems).toHaveLength(1);
  });
});

describe(PRECEDENCE, () => {
  const paid = entry('checkout.paid', { session: 'cs', payment: 'pi' }, [0, 0]);
  const free = entry('signup', OTHER, [0, 1], { answer: { tenant: OTHER.tenant } });
  const waiting = (seconds: number) => [report(1, false), report(1 + seconds, true)];
  const others = (count: number) => Array.from({ length: count }, (_, at) => report(2 + at, true, OTHER));

  test.each([
    ['that waits for a minute behind ten batches of others', [paid, free, ...waiting(62), ...others(10)], 1],
    ['that waits for less', [paid, free, ...waiting(59), ...others(10)], 0],
    ['that waits as all others do', [paid, free, ...waiting(62), ...others(9)], 0],
    ['that never paid either', [free, ...waiting(62), ...others(10)], 0],
    ['that waits behind others that paid', [paid, ...waiting(62), ...others(10)], 0],
  ])('a tenant %s', async (_, entries, found) => {
    const { problems } = await judge(PROGRESS_RULES, entries);
    const line = `${PRECEDENCE}: t_0123456789abcdef waited for 62 s, while 10 batches of tenants that never paid were acknowledged`;
    expect(problems).toEqual(found === 1 ? [line] : []);
  });
});
