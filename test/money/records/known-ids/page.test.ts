import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { TenantId } from '../../../../src/base/tenants/tenant.ts';
import { HASH_END } from '../../../../src/money/records/known-ids/id-hash.ts';
import { Page, PageMaker } from '../../../../src/money/records/known-ids/page.ts';
import { seeded } from '../../../support/seeded.ts';

const TENANT = 77n as TenantId;

interface Entry {
  readonly hash: number;
  readonly chunk: number;
}

const inOrder = (one: Entry, other: Entry) => one.hash - other.hash || one.chunk - other.chunk;

function make(entries: readonly Entry[]): { rows: ReturnType<typeof rowOf>[]; pages: Page[] } {
  const maker = new PageMaker(TENANT, 3);
  for (const { hash, chunk } of entries.toSorted(inOrder)) maker.add(hash, chunk);
  maker.end();
  const rows = maker.pages.map(rowOf);
  return { rows, pages: rows.map((row) => new Page(TENANT, row)) };
}

const rowOf = ({ firstHash, page }: PageMaker['pages'][0]) => ({
  run: 3,
  firstHash: BigInt(firstHash),
  page,
});

const entriesOf = (page: Page): Entry[] =>
  Array.from({ length: page.length }, (_, at) => ({ hash: page.hash(at), chunk: page.chunk(at) }));

/** Hashes and chunks of all sizes, with equal ones. */
const entry = fc.record({
  hash: fc.oneof(fc.nat(50), fc.integer({ min: HASH_END - 50, max: HASH_END - 1 }), fc.maxSafeNat()),
  chunk: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
});
const entries = fc
  .array(entry, { maxLength: 700, size: 'max' })
  .map((all) => all.map(({ hash, chunk }) => ({ hash: hash % HASH_END, chunk })));

describe('pages', () => {
  it('have what was put in, once, and follow one another', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const { pages } = make(given);
        const distinct = new Map(given.map((each) => [`${each.hash} ${each.chunk}`, each]));
        expect(pages.flatMap(entriesOf)).toEqual([...distinct.values()].sort(inOrder));
        const edges = pages.map(({ end }) => end);
        expect(pages.map(({ first }) => first)).toEqual([0, ...edges.slice(0, -1)]);
        expect(edges.at(-1)).toBe(HASH_END);
        for (const page of pages)
          for (const { hash } of entriesOf(page)) expect(hash >= page.first && hash < page.end).toBe(true);
      }),
    );
  });

  it('have the largest hash in chunks far apart', () => {
    const given = [0, 2 ** 32 - 1].map((chunk) => ({ hash: HASH_END - 1, chunk }));
    expect(make(given).pages.flatMap(entriesOf)).toEqual(given);
  });

  it('find each hash, and none that is not there', () => {
    fc.assert(
      fc.property(entries, fc.array(entry), (given, others) => {
        const { pages } = make(given);
        for (const { hash } of [...given, ...others]) {
          const page = pages.findLast(({ first }) => first <= hash)!;
          const chunks = [];
          for (let at = page.search(hash); at < page.length && page.hash(at) === hash; at += 1)
            chunks.push(page.chunk(at));
          const wanted = new Set(given.filter((each) => each.hash === hash).map(({ chunk }) => chunk));
          expect(chunks).toEqual([...wanted].sort((one, other) => one - other));
        }
      }),
    );
  });

  test.each([
    [10_000, 1],
    [300_000, 30],
    [1_000_000, 100],
  ])('of a run of %i take at most 5.2 bytes an id', (count, chunks) => {
    const random = seeded(count);
    const hashes = Float64Array.from({ length: count }, () => Math.floor(random() * HASH_END)).sort();
    const maker = new PageMaker(TENANT, 3);
    for (const [at, hash] of hashes.entries()) maker.add(hash, 1000 + (at % chunks));
    maker.end();
    expect(maker.pages.reduce((sum, { page }) => sum + page.length, 0) / count).toBeLessThan(5.2);
  });
});

describe('a damaged page', () => {
  const { rows } = make([
    { hash: 5, chunk: 1 },
    { hash: 70_000, chunk: 2 },
  ]);
  const [row] = rows;
  const bytes = row!.page.length;

  it('is refused, whichever bit differs', () => {
    expect(new Page(TENANT, row!).length).toBe(2);
    for (let bit = 0; bit < bytes * 8; bit += 1) {
      const page = Buffer.from(row!.page);
      page[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => new Page(TENANT, { ...row!, page })).toThrow(
        'known ids of tenant t_000000000000004d, run 3, page at hash 0: its checksum differs',
      );
    }
  });

  test.each([
    ['another length', TENANT, { page: rows[0]!.page.subarray(0, bytes - 1) }],
    ['no bytes', TENANT, { page: Buffer.alloc(0) }],
    ['the key of another run', TENANT, { run: 4 }],
    ['another first hash', TENANT, { firstHash: 1n }],
    ['another tenant', 78n as TenantId, {}],
  ])('is refused with %s', (_what, tenant, changed) => {
    expect(() => new Page(tenant, { ...row!, ...changed })).toThrow('its checksum differs');
  });
});
