/** The search in Go. Without Go, it is left out. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { History, HistoryOp, Model } from '../../../faults/check/histories.ts';
import {
  buildPorcupine,
  checkHistories,
  hasPorcupine,
  preparePorcupine,
} from '../../../faults/check/porcupine.ts';
import { BUILD_MS_MAX, runTool } from '../../../scripts/toolchains.ts';

const FOLDER = 'faults/porcupine';

const op = (name: string, callUs: number, returnUs: number, rest: Partial<HistoryOp> = {}): HistoryOp => ({
  ...{ op: name, outcome: 'ok', client: 1, callUs, returnUs },
  ...rest,
});

/** For each model, what is linearizable and what is not. */
const HISTORIES: Readonly<
  Record<Model, readonly [right: readonly HistoryOp[], wrong: readonly HistoryOp[]]>
> = {
  keys: [
    [op('create', 0, 1), op('revoke', 2, 9), op('use', 3, 4), op('use', 5, 6, { outcome: 'refused' })],
    [op('create', 0, 1), op('revoke', 2, 3), op('use', 4, 5)],
  ],
  rooms: [
    [
      op('create', 0, 1, { uid: 'rm_1' }),
      op('end', 2, 3, { uid: 'rm_1' }),
      op('create', 4, 5, { uid: 'rm_2' }),
    ],
    [
      op('create', 0, 1, { uid: 'rm_1' }),
      op('end', 2, 3, { uid: 'rm_1' }),
      op('mint', 4, 5, { uid: 'rm_1' }),
    ],
  ],
  balances: [
    [op('add', 0, 9, { amount: 5 }), op('read', 1, 2, { amount: 0 }), op('read', 3, 4, { amount: 5 })],
    [op('add', 0, 1, { amount: 5 }), op('read', 2, 3, { amount: 0 })],
  ],
  budgets: [
    [op('create', 0, 1, { amount: 9 }), op('hold', 2, 3, { amount: 5 }), op('read', 4, 5, { amount: 4 })],
    [op('create', 0, 1, { amount: 9 }), op('hold', 2, 3, { amount: 5 }), op('hold', 2, 4, { amount: 5 })],
  ],
};

test.each([
  ['1.24.0', true],
  ['1.26.8', true],
  ['2.0', true],
  ['1.23.9', false],
  ['1.3', false],
])('Go %s can build it: %s', (version, expected) => {
  expect(hasPorcupine(version)).toBe(expected);
});

test('a Go that is too old is no error, and is named', async () => {
  expect(await preparePorcupine('1.19.8')).toBe('Porcupine needs Go 1.24, and this is 1.19.8');
});

describe.skipIf(!hasPorcupine())('Porcupine', { timeout: BUILD_MS_MAX }, () => {
  beforeAll(buildPorcupine, BUILD_MS_MAX);

  test.each(Object.entries(HISTORIES))(
    'tells histories of %s from those that no order explains',
    async (model, of) => {
      const histories: History[] = of.map((ops, at) => ({ object: `object ${at}`, ops }));
      expect(await checkHistories(model as Model, histories)).toEqual([
        { object: 'object 0', result: 'ok', ops: of[0].length },
        { object: 'object 1', result: 'illegal', ops: of[1].length },
      ]);
    },
  );

  test('gives up a search that takes too long', async () => {
    // Any of 2^40 sets of these could have been added, and none of them explains the read.
    const adds = Array.from({ length: 40 }, (_, at) => op('add', 0, 100, { amount: 2 ** at * 2 }));
    const ops = [...adds, op('read', 1, 2, { amount: 1 })];
    const [verdict] = await checkHistories('balances', [{ object: 'a', ops }], 200);
    expect(verdict!.result).toBe('unknown');
  });

  test('is formatted, passes go vet, needs no other modules than it says, and passes its tests', async () => {
    expect(await runTool('gofmt', ['-l', '.'], { folder: FOLDER })).toBe('');
    await runTool('go', ['vet', './...'], { folder: FOLDER });
    await runTool('go', ['mod', 'tidy', '-diff'], { folder: FOLDER });
    await runTool('go', ['test', './...'], { folder: FOLDER });
  });
});
