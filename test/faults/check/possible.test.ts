import { expect, test } from 'vitest';
import { possibleAt } from '../../../faults/check/possible.ts';
import { entry, REFUSED } from './entries.ts';

const change = (id: string, invokedUs: number, returnedUs: number | null, rest = {}) =>
  entry('auto_top_up.set', { id }, [invokedUs, returnedUs], rest);

test.each([
  ['nothing was changed', [], [undefined]],
  ['a change was made', [change('a', 10, 20)], ['a']],
  ['a change is under way', [change('a', 90, 120)], [undefined, 'a']],
  ['a change has no answer', [change('a', 10, 20), change('b', 30, null)], ['a', 'b']],
  [
    'a change without an answer came before another',
    [change('a', 10, null), change('b', 30, 40)],
    ['a', 'b'],
  ],
  ['one change followed another', [change('a', 10, 20), change('b', 30, 40)], ['b']],
  ['two changes were made at once', [change('a', 10, 35), change('b', 30, 40)], ['a', 'b']],
  ['a change was refused', [change('a', 10, 20), change('b', 30, 40, REFUSED)], ['a']],
  ['a change comes later', [change('a', 10, 20), change('b', 111, 120)], ['a']],
])('what is possible if %s', (_, changes, ids) => {
  expect(possibleAt(changes, 100, 110).map((each) => each?.args.id)).toEqual(ids);
});
