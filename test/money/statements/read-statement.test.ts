import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/base/lib/canonical-json.ts';
import type { TimeZone } from '../../../src/money/calendar/time-zone.ts';
import { NotAStatementError, readStatement } from '../../../src/money/statements/read-statement.ts';
import { digestOf, renderStatement, textOf } from '../../../src/money/statements/statement-document.ts';
import { SAMPLE } from './support.ts';

/** The text of the document after a change. */
function changed(change: (document: Record<string, never>) => void): string {
  const document = structuredClone(renderStatement(SAMPLE));
  change(document as unknown as Record<string, never>);
  return canonicalJson(document);
}

describe('the text of a statement', () => {
  test('is read back as it was, beyond 2^53 too', () => {
    expect(readStatement(textOf(SAMPLE))).toEqual(SAMPLE);
    expect(SAMPLE.usage.sum.egressBytes).toBeGreaterThan(2n ** 53n);
  });

  test('is read back in its time zone', () => {
    const zoned = { ...SAMPLE, zone: 'Asia/Kathmandu' as TimeZone, to: new Date('2026-11-01T00:00:00Z') };
    expect(textOf(zoned)).toContain('"time_zone":"Asia/Kathmandu","to"');
    expect(readStatement(textOf(zoned))).toEqual(zoned);
  });

  test('and its digest stay the same for ever: signed statements are compared with them', () => {
    expect(digestOf(SAMPLE)).toBe('befadcd8ff19526dc501821e949ee71f533312f2211508da7b34fcd7ebb48c18');
  });

  // biome-ignore lint/suspicious/noExplicitAny: any member may be changed
  test.each<[string, (document: any) => void]>([
    ['version must be 1', (document) => (document.version = 2)],
    ['version must be an integer', (document) => delete document.version],
    ['tenant must be an object', (document) => (document.tenant = 't')],
    ['tenant/id must be of the right form', (document) => (document.tenant.id = 't_1')],
    ['tenant/name must be a text', (document) => (document.tenant.name = 1)],
    ['month must be of the right form', (document) => (document.month = '2026-13')],
    ['payments/entries must be a list', (document) => (document.payments.entries = {})],
    ['payments/entries/0 must be an object', (document) => (document.payments.entries = [1])],
    [
      'payments/entries/0/at must be of the right form',
      (document) => (document.payments.entries[0].at = 'x'),
    ],
    [
      'payments/entries/0/kind must be of the right form',
      (document) => (document.payments.entries[0].kind = 'refund'),
    ],
    ['usage/rooms/1/total must be an object', (document) => delete document.usage.rooms[1].total],
    ['usage/sum/records must be an integer', (document) => (document.usage.sum.records = '6')],
    ['closing/micros must be an integer', (document) => delete document.closing.micros],
    // Right in every part, and yet not what a statement would say.
    ['it is not written as statements are', (document) => (document.more = 1)],
    ['it is not written as statements are', (document) => (document.opening.display = '$1.000000')],
    ['it is not written as statements are', (document) => (document.time_zone = 'UTC')],
    ['to must be of the right form', (document) => (document.to = 'x')],
    [
      'it does not add up: 2026-10 in UTC does not run from 2026-10-01T00:00:00.000Z to 2026-12-01T00:00:00.000Z',
      (document) => (document.to = '2026-12-01T00:00:00.000Z'),
    ],
    ['it is not written as statements are', (document) => (document.currency = 'eur')],
    [
      'it does not add up: the closing balance is $52.999996 by the entries, and $0.000000 by the statement',
      (document) => (document.closing = { micros: 0, display: '$0.000000' }),
    ],
  ])('%s', (message, change) => {
    const read = () => readStatement(changed(change));
    expect(read).toThrow(NotAStatementError);
    expect(read).toThrow(new NotAStatementError(message));
  });

  test.each([
    ['', 'it is not JSON'],
    ['{"version":1.5}', 'it is not JSON'],
    ['[]', 'version must be an integer'],
    ['null', 'it must be an object'],
    [` ${textOf(SAMPLE)}`, 'it is not written as statements are'],
  ])('%j is none', (text, message) => {
    expect(() => readStatement(text)).toThrow(new NotAStatementError(message));
  });
});
