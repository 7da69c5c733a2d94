import { describe, expect, test } from 'vitest';
import { type Reads, readCsv, readEvents, readLedger } from '../../../faults/check/views.ts';
import { NO_READS } from './entries.ts';

describe('CSV', () => {
  test.each([
    ['a,b\r\n1,2\r\n', [{ a: '1', b: '2' }]],
    ['a,b\n1,2', [{ a: '1', b: '2' }]],
    ['a,b\n,\n', [{ a: '', b: '' }]],
    ['a,b\n"x, ""y""\nz",2\n', [{ a: 'x, "y"\nz', b: '2' }]],
    ['a\n"",\n', [{ a: '' }]],
    ['a,b\n', []],
  ])('%j', (text, lines) => {
    expect(readCsv(text)).toEqual(lines);
  });
});

/** Answers by path. */
function service(answers: Readonly<Record<string, unknown>>): Reads {
  return {
    ...NO_READS,
    tenants: ['t'],
    get: async (_, path) => answers[path] ?? Promise.reject(new Error(`not asked for: ${path}`)),
  };
}

test('a list is read to its last page', async () => {
  const reads = service({
    '/v1/ledger?limit=1000': { entries: [{ id: 'b' }], next_cursor: 'x/y' },
    '/v1/ledger?limit=1000&cursor=x%2Fy': { entries: [{ id: 'a' }] },
  });
  expect(await readLedger(reads, 't')).toEqual([{ id: 'b' }, { id: 'a' }]);
});

test('events are read as long as there are more', async () => {
  const reads = service({
    '/v1/events?limit=1000': { events: [{ seq: 1 }], after: 1, more: true },
    '/v1/events?limit=1000&after=1': { events: [], after: 1, more: false },
  });
  expect(await readEvents(reads, 't')).toEqual([{ seq: 1 }]);
});
