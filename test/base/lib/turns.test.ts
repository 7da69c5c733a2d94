import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Turns } from '../../../src/base/lib/turns.ts';

/** Work whose slices write their names to `log`. */
function* slices(log: string[], name: string, count: number): Generator<void, string> {
  for (let slice = 1; slice <= count; slice += 1) {
    if (slice > 1) yield;
    log.push(`${name}${slice}`);
  }
  return name;
}

describe('turns', () => {
  test('leave the event loop to others between two slices', async () => {
    const log: string[] = [];
    const turns = new Turns<string>();
    const works = Promise.all([
      turns.run('a', slices(log, 'a', 2)),
      turns.run('a', slices(log, 'A', 1)),
      turns.run('b', slices(log, 'b', 1)),
    ]);
    expect(log).toStrictEqual([]);
    for (let count = 0; count < 4; count += 1) {
      await turn();
      log.push('others');
    }
    expect(await works).toStrictEqual(['a', 'A', 'b']);
    expect(log).toStrictEqual(['a1', 'others', 'a2', 'others', 'b1', 'others', 'A1', 'others']);
  });

  test('do work to its end, and alternate between owners', async () => {
    const log: string[] = [];
    const turns = new Turns<string>();
    const works = ['a', 'A', 'b'].map((name) => turns.run(name.toLowerCase(), slices(log, name, 2)));
    await Promise.all(works);
    expect(log).toStrictEqual(['a1', 'a2', 'b1', 'b2', 'A1', 'A2']);
  });

  test('of many strangers are together every second one', async () => {
    const log: string[] = [];
    const turns = new Turns<string>();
    const strangers = ['x', 'y', 'z'].map((name) => turns.run(name, slices(log, name, 2), true));
    const known = ['a', 'b', 'A'].map((name) => turns.run(name.toLowerCase(), slices(log, name, 2)));
    await Promise.all([...strangers, ...known]);
    expect(log.join(' ')).toBe('x1 x2 a1 a2 y1 y2 b1 b2 z1 z2 A1 A2');
  });

  test('of strangers wait for nobody but those that came before', async () => {
    const log: string[] = [];
    const turns = new Turns<string>();
    await turns.run('a', slices(log, 'a', 1));
    await turns.run('x', slices(log, 'x', 2), true);
    await turns.run('b', slices(log, 'b', 1));
    expect(log).toStrictEqual(['a1', 'x1', 'x2', 'b1']);
  });

  test('go on after an error, which fails its own work only', async () => {
    const log: string[] = [];
    const turns = new Turns<string>();
    const bad = (function* () {
      yield;
      throw new Error('a mistake');
    })();
    const results = Promise.allSettled([
      turns.run('a', bad),
      turns.run('a', slices(log, 'a', 2)),
      turns.run('b', slices(log, 'b', 3)),
    ]);
    expect((await results).map(({ status }) => status)).toStrictEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  test('begin again after a pause', async () => {
    const turns = new Turns<string>();
    expect(await turns.run('a', slices([], 'a', 2))).toBe('a');
    await turn();
    expect(await turns.run('b', slices([], 'b', 2))).toBe('b');
  });
});
