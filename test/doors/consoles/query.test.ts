import { expect, test } from 'vitest';
import { periodOf } from '../../../src/doors/consoles/query.ts';

test.each([
  [{ from: '2026-11-01', to: '2026-11-02' }, '2026-11-01', '2026-11-02'],
  [{ from: '2026-11-01', to: ' ' }, '2026-11-01', undefined],
  [{ to: '2026-11-02' }, undefined, '2026-11-02'],
  [{}, undefined, undefined],
])('the period of %j is from %s to %s', (fields, from, to) => {
  const day = (text: string | undefined) => text && new Date(text);
  expect(periodOf(new Map(Object.entries(fields)))).toEqual({ from: day(from), to: day(to) });
});
