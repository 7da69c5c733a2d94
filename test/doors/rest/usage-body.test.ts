import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseStrictJson } from '../../../src/base/lib/strict-json.ts';
import { Turns } from '../../../src/base/lib/turns.ts';
import { renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { readPlainUsage, readPlainUsageInSlices } from '../../../src/doors/rest/usage-body.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import type { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const TENANT = 't_0123456789abcdef';

type Fields = Record<string, unknown>;

/** A member in its written form: its name, and the JSON text of its value. */
type Member = readonly [name: string, value: string];

const quoted = (text: string) => JSON.stringify(text);

/** Mostly valid, so that whole bodies are. Odd and invalid values are rare. */
const mostly = (right: fc.Arbitrary<string>, odd: readonly string[], wrong: readonly string[]) =>
  fc.oneof(
    { weight: 60, arbitrary: right },
    { weight: 3, arbitrary: fc.constantFrom(...odd) },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  );

const NO_NUMBERS = [
  ...['-1', '01', '00', '60.', '.5', '0.5', '+1', '0x10', '1e', '"60"', '""', 'null', 'true', '[]', '{}', ''],
  ...['9007199254740992', '0000000000000001', '12345678901234567890', '1e400', '-1e400', '1e-400'],
];
const seconds = mostly(
  fc.nat(86_400).map(String),
  ['0', '-0', '86400', '1e3', '6E1', '1e+2', '1.0', '60.000', '0.6e2'],
  ['86401', '1e5', ...NO_NUMBERS],
);
const quantity = mostly(
  fc.nat(999_999_999_999_999).map(String),
  ['0', '-0', '1e3', '1.0', '999999999999999', '1000000000000000', '9007199254740991', '1e15'],
  NO_NUMBERS,
);
const text = mostly(
  fc
    .oneof(
      fc.stringMatching(/^[\w .:-]{1,12}$/),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    )
    .map(quoted),
  [
    ...['é', '🎥🎥', '\ufeff', '__proto__', '\u007f', 'x'.repeat(200), '😀'.repeat(200), 'é'.repeat(101)].map(
      quoted,
    ),
    ...['"\\u0041"', '"\\/"', '"\\ud83d\\ude00"', '"\\u005f_proto__"'],
  ],
  [
    ...['', 'x'.repeat(201), 'é'.repeat(201), '😀'.repeat(201)].map(quoted),
    ...['"\\u0000"', '"\\ud800"', '"a\tb"', '"\\x"', 'null', '5', '["a"]', '{"a":1}', '"'],
  ],
);
const word = (words: readonly string[]) =>
  mostly(
    fc.constantFrom(...words).map(quoted),
    words.map((each) => quoted(each).replace('o', '\\u006f')),
    ['"Host"', '"host "', '""', 'null', '"toString"', '5'],
  );

const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** The members of a record, nearly always valid. */
const members: fc.Arbitrary<Member[]> = fc
  .tuple(
    fc.record({
      id: text,
      role: word(ROLES),
      tier: word(TIERS),
      seconds,
      egress_bytes: quantity,
      ingress_bytes: quantity,
    }),
    fc.record({ tenant: word([TENANT]), room: text, participant: text }, { requiredKeys: [] }),
    rarely(fc.tuple(fc.constantFrom('id', 'room', 'seconds', 'more', '__proto__', ''), text)),
    rarely(fc.constantFrom('id', 'role', 'seconds', 'ingress_bytes')),
  )
  .map(([required, optional, more, missing]) => [
    ...Object.entries({ ...required, ...optional }).filter(([name]) => name !== missing),
    ...(more ? [more] : []),
  ])
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

const space = fc.oneof(
  { weight: 900, arbitrary: fc.constant('') },
  { weight: 90, arbitrary: fc.constantFrom(' ', '\n', '\r\n', '\t', '   ') },
  { weight: 1, arbitrary: fc.constantFrom('\v', '\f', '\u00a0', '\ufeff', '\u2028', '/**/', '\0', ',') },
);

const body: fc.Arbitrary<string> = fc
  .tuple(fc.array(members, { maxLength: 4 }), fc.array(space, { minLength: 40, maxLength: 40 }))
  .map(([records, spaces]) => {
    let turn = 0;
    const tokens = (...parts: string[]) =>
      parts.map((part) => `${spaces[turn++ % spaces.length]}${part}`).join('');
    const rendered = records.map((record) =>
      tokens('{', ...record.flatMap(([name, value], at) => [at ? ',' : '', quoted(name), ':', value]), '}'),
    );
    return tokens('{', '"records"', ':', '[', rendered.join(','), ']', '}', '');
  });

/** Changes to the bytes of a body at one place, between 0 and 1. */
const edit = fc.record({
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(2),
  added: fc.oneof(
    fc.uint8Array({ maxLength: 2 }),
    fc
      .constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', '0', '-', ' ', '\ufeff', '\0')
      .map((sign) => Buffer.from(sign)),
  ),
});

type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

function applied(edits: readonly Edit[], given: Buffer): Buffer {
  let bytes = given;
  for (const { place, removed, added } of edits) {
    const at = Math.round(place * bytes.length);
    bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
  }
  return bytes;
}

const edited = fc
  .tuple(body, fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(edit, { maxLength: 3 })))
  .map(([written, edits]) => applied(edits, Buffer.from(written)));

/** How a relay writes records: the order of their members, and the spaces between tokens. */
const style = fc.record({
  names: fc.shuffledSubarray(
    ['id', 'tenant', 'room', 'participant', 'role', 'tier', 'seconds', 'egress_bytes', 'ingress_bytes'],
    { minLength: 8 },
  ),
  spaces: fc.array(space, { minLength: 7, maxLength: 7 }),
});

const values = fc.record({
  ...{
    id: text,
    room: text,
    participant: text,
    tenant: word([TENANT]),
    role: word(ROLES),
    tier: word(TIERS),
  },
  ...{ seconds, egress_bytes: quantity, ingress_bytes: quantity },
});

/** Records that repeat the styles of others, with changes to the bytes in places. */
const alike = fc
  .tuple(
    fc.array(style, { minLength: 1, maxLength: 2 }),
    fc.array(fc.tuple(values, fc.nat(1)), { minLength: 2, maxLength: 8 }),
    fc.array(edit, { maxLength: 1 }),
  )
  .map(([styles, records, edits]) => {
    const rendered = records.map(([own, which]) => {
      const { names, spaces } = styles[which % styles.length]!;
      const tokens = names.flatMap((name, at) => [
        at ? ',' : '{',
        quoted(name),
        ':',
        own[name as keyof typeof own],
      ]);
      return [...tokens, '}'].map((token, at) => `${spaces[at % spaces.length]}${token}`).join('');
    });
    return applied(edits, Buffer.from(`{"records":[${rendered.join(',')}]}`));
  });

/** The records of a body by specification 2.6, read literally; `undefined` for a body to refuse. */
function readByTheLetter(bytes: Buffer): Fields[] | undefined {
  let value: unknown;
  try {
    value = parseStrictJson(bytes);
  } catch {
    return undefined;
  }
  const isObject = (given: unknown): given is Fields =>
    typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isObject(value) || Object.keys(value).join() !== 'records') return undefined;
  const { records } = value;
  if (!Array.isArray(records) || records.length > 5000) return undefined;
  return records.every((record) => isObject(record) && isRecord(record)) ? records : undefined;
}

function isRecord({ id, tenant, room, participant, role, tier, seconds, ...rest }: Fields): boolean {
  const { egress_bytes, ingress_bytes, ...unknown } = rest;
  const isWhole = (given: unknown, max: number) =>
    Number.isInteger(given) && (given as number) >= 0 && (given as number) <= max;
  return (
    typeof id === 'string' &&
    [...id].length >= 1 &&
    [...id].length <= 200 &&
    (tenant === undefined || tenant === TENANT) &&
    [room, participant].every(
      (given) => given === undefined || (typeof given === 'string' && [...given].length <= 200),
    ) &&
    ['host', 'audience', 'broadcast_audience'].includes(role as string) &&
    ['audio', 'hd', 'full_hd', '2k', '2k_plus'].includes(tier as string) &&
    isWhole(seconds, 86_400) &&
    isWhole(egress_bytes, 2 ** 53 - 1) &&
    isWhole(ingress_bytes, 2 ** 53 - 1) &&
    Object.keys(unknown).length === 0
  );
}

function render(records: UsageRecords): Fields[] {
  return Array.from(records.rows(), (row) => {
    const { egressBytes, ingressBytes, ...record } = records.record(row);
    return { ...record, egress_bytes: Number(egressBytes), ingress_bytes: Number(ingressBytes) };
  });
}

describe('readPlainUsage', () => {
  test.each([
    ['of any style', edited],
    ['whose records are alike', alike],
  ])(
    'reads nothing that the specification refuses, and the rest as specified: bodies %s',
    (_what, bodies) => {
      let read = 0;
      let refused = 0;
      fc.assert(
        fc.property(bodies, (bytes) => {
          const records = readPlainUsage(bytes, TENANT);
          const right = readByTheLetter(bytes);
          if (right === undefined) refused += 1;
          if (!records) return;
          read += records.length;
          const expected = right?.map(({ tenant: _, ...record }) => ({
            room: undefined,
            participant: undefined,
            ...record,
          }));
          expect(render(records)).toStrictEqual(expected);
        }),
        { numRuns: 6_000 },
      );
      expect(read).toBeGreaterThan(500);
      expect(refused).toBeGreaterThan(500);
    },
  );

  test('reads typical bodies of relays: whole numbers, texts without escapes, in any order and spacing', () => {
    const plainText = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((given) => quoted(given) === `"${given}"`);
    const shortText = plainText.filter((given) => Buffer.byteLength(given) <= 200);
    const digits = fc.nat(999_999_999_999_999);
    const record = fc.record(
      {
        id: shortText,
        role: fc.constantFrom(...ROLES),
        tier: fc.constantFrom(...TIERS),
        seconds: fc.nat(86_400),
        egress_bytes: digits,
        ingress_bytes: digits,
        tenant: fc.constant(TENANT),
        room: fc.oneof(shortText, fc.constant('')),
        participant: shortText,
      },
      { requiredKeys: ['id', 'role', 'tier', 'seconds', 'egress_bytes', 'ingress_bytes'] },
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), fc.constantFrom(0, 1, '\t'), (records, indent) => {
        const bytes = Buffer.from(JSON.stringify({ records }, undefined, indent));
        expect(readPlainUsage(bytes, TENANT)?.length).toBe(records.length);
      }),
      { numRuns: 300 },
    );
  });

  const SHORTEST = '{"id":"x","role":"host","tier":"hd","seconds":0,"egress_bytes":0,"ingress_bytes":0}';
  const bodyOf = (...records: string[]) => Buffer.from(`{"records":[${records.join(',')}]}`);

  test('has room for 5000 of the shortest possible records', () => {
    for (const count of [0, 1, 2, 4_999, 5_000]) {
      const records = readPlainUsage(bodyOf(...Array<string>(count).fill(SHORTEST)), TENANT);
      expect(records?.length).toBe(count);
    }
    expect(readPlainUsage(bodyOf(...Array<string>(5_001).fill(SHORTEST)), TENANT)).toBeUndefined();
  });

  test.each(['room', 'participant'])(
    'reads a %s of 200 bytes, and leaves a longer one to others',
    (field) => {
      const read = (text: string) =>
        readPlainUsage(bodyOf(SHORTEST.replace('{', `{"${field}":"${text}",`)), TENANT)?.length;
      expect(read('x'.repeat(200))).toBe(1);
      expect(read('é'.repeat(100))).toBe(1);
      expect(read('x'.repeat(201))).toBeUndefined();
      expect(read('é'.repeat(101))).toBeUndefined();
    },
  );

  test.each([
    ['nothing', Buffer.of()],
    ['a byte order mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bodyOf(SHORTEST)])],
    ['bytes after the end', Buffer.concat([bodyOf(SHORTEST), Buffer.from(' x')])],
    ['NUL after the end', Buffer.concat([bodyOf(SHORTEST), Buffer.of(0)])],
    ['two bodies', Buffer.concat([bodyOf(SHORTEST), bodyOf(SHORTEST)])],
    ['a member next to the records', Buffer.from('{"records":[],"more":1}')],
    ['records twice', Buffer.from('{"records":[],"records":[]}')],
    ['a comma after the last record', bodyOf(`${SHORTEST},`)],
    ['a comma after the last member', bodyOf(SHORTEST.replace('}', ',}'))],
    [
      'invalid UTF-8 in an id',
      Buffer.from(bodyOf(SHORTEST).toString('latin1').replace('x', '\xff'), 'latin1'),
    ],
    [
      'a surrogate as UTF-8',
      Buffer.from(bodyOf(SHORTEST).toString('latin1').replace('x', '\xed\xa0\x80'), 'latin1'),
    ],
    [
      'an overlong quote',
      Buffer.from(bodyOf(SHORTEST).toString('latin1').replace('x', '\xc0\xa2'), 'latin1'),
    ],
    ['a bare NUL in an id', bodyOf(SHORTEST.replace('x', '\0'))],
    ['the tenant with more behind it', bodyOf(SHORTEST.replace('{', `{"tenant":"${TENANT}0",`))],
    ['half a tenant', bodyOf(SHORTEST.replace('{', `{"tenant":"${TENANT.slice(0, 9)}",`))],
  ])('leaves %s to the schema', (_what, bytes) => {
    expect(readPlainUsage(bytes, TENANT)).toBeUndefined();
  });

  test('reads any byte of a text as the strict reader does, at any place', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      for (let place = 0; place < 9; place += 1) {
        const id = Buffer.alloc(9, 'x');
        id[place] = byte;
        const [before, after] = SHORTEST.split('x') as [string, string];
        const record = Buffer.concat([Buffer.from(before), id, Buffer.from(after)]);
        const bytes = Buffer.concat([
          ...[
            Buffer.from('{"records":['),
            Buffer.from(SHORTEST),
            Buffer.from(','),
            record,
            Buffer.from(']}'),
          ],
        ]);
        const read = readPlainUsage(bytes, TENANT);
        const right = readByTheLetter(bytes);
        expect(read?.id(1)).toBe(right?.[1]?.id);
      }
    }
  });

  test('reads a member by what it is, not by what another record has in its place', () => {
    const names = ['id', 'role', 'tier', 'seconds', 'egress_bytes', 'ingress_bytes'];
    const given = {
      id: '"x"',
      role: '"host"',
      tier: '"hd"',
      seconds: '1',
      egress_bytes: '2',
      ingress_bytes: '3',
    };
    const record = (order: readonly string[]) =>
      `{${order.map((name) => `"${name}":${given[name as keyof typeof given]}`).join(',')}}`;
    for (let shift = 0; shift < names.length; shift += 1) {
      const order = [...names.slice(shift), ...names.slice(0, shift)];
      const all = [names, order, order, order.toReversed(), names];
      const records = readPlainUsage(bodyOf(...all.map(record)), TENANT)!;
      expect(new Set(render(records).map((each) => JSON.stringify(each))).size).toBe(1);
      for (const missing of order) {
        const fewer = order.filter((name) => name !== missing);
        for (const wrong of [fewer, [...fewer, fewer[0]!], [...order, missing]]) {
          expect(readPlainUsage(bodyOf(record(order), record(order), record(wrong)), TENANT)).toBeUndefined();
        }
      }
    }
  });

  test('ends a slice every 500 records', () => {
    const slicesOf = (count: number) => [
      ...readPlainUsageInSlices(bodyOf(...Array<string>(count).fill(SHORTEST)), TENANT),
    ];
    expect([0, 1, 500, 501, 5_000].map((count) => 1 + slicesOf(count).length)).toStrictEqual([
      1, 1, 1, 2, 10,
    ]);
  });

  test('leaves a truncated body to the schema', () => {
    const whole = bodyOf(SHORTEST.replace('"x"', '"é🎥"'));
    for (let end = 0; end < whole.length; end += 1) {
      expect(readPlainUsage(whole.subarray(0, end), TENANT)).toBeUndefined();
    }
    expect(readPlainUsage(whole, TENANT)?.length).toBe(1);
  });
});

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

describe('POST /v1/usage', () => {
  const app = useService();
  let quick: TestTenant;
  let slow: TestTenant;

  beforeAll(async () => {
    [quick, slow] = [await app.paidTenant(), await app.paidTenant()];
  });

  /** The same bytes with another tenant. */
  const sentBy = (tenant: TestTenant, bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll(TENANT, tenant.id), 'latin1');

  /** The same JSON, but not plain: one letter of a name is written as an escape. */
  const escaped = (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replace('"records"', '"re\\u0063ords"'), 'latin1');

  async function expectSame(bytes: Buffer): Promise<number> {
    expect(readPlainUsage(escaped(bytes), TENANT)).toBeUndefined();
    const send = (tenant: TestTenant, raw: Buffer) =>
      app.request('POST', '/v1/usage', { key: tenant.relayKey, raw });
    const [one, other] = await Promise.all([
      send(quick, sentBy(quick, bytes)),
      send(slow, escaped(sentBy(slow, bytes))),
    ]);
    expect(one.status).toBe(other.status);
    // With unbalanced quotes, the ids of the two tenants are not read as text.
    if (isJson(bytes)) expect(one.text).toBe(other.text);
    return one.status;
  }

  test('gives the same answer with both parsers', async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(edited, async (bytes) => {
        statuses.add(await expectSame(bytes));
      }),
      { numRuns: 400 },
    );
    expect([...statuses].sort()).toStrictEqual([200, 400]);
    const { rows } = await app.service.deps.db.query(
      `select count(*) as records, count(distinct (id, seconds, egress_bytes, ingress_bytes, amount, capped, role, tier,
                                                   room, participant)) as kinds from usage_records`,
    );
    expect(rows[0].records).toBe(2n * rows[0].kinds);
    expect(rows[0].kinds).toBeGreaterThan(20n);
  });

  test.each([0, 1, 5_000, 5_001])('answers %i records the same', async (count) => {
    const records = Array.from({ length: count }, (_, index) => ({
      id: `many-${index}`,
      role: 'audience',
      tier: 'audio',
      seconds: 7,
      egress_bytes: 70_000 + index,
      ingress_bytes: 0,
    }));
    expect(await expectSame(Buffer.from(JSON.stringify({ records })))).toBe(count > 5_000 ? 400 : 200);
  });

  describe('of a large body', () => {
    const run = Turns.prototype.run;

    afterEach(() => {
      vi.restoreAllMocks();
    });

    const batch = (boot: string, count: number) => ({
      records: Array.from({ length: count }, (_, index) => ({
        ...{ id: `${boot}-${index}`, role: 'host', tier: 'hd' },
        ...{ seconds: 1, egress_bytes: 1, ingress_bytes: 1 },
      })),
    });

    test('serves other requests between its slices', async () => {
      const firstSlice = Promise.withResolvers<void>();
      let isOtherServed = false;
      vi.spyOn(Turns.prototype, 'run').mockImplementation(function <T>(
        this: Turns<unknown>,
        owner: unknown,
        work: Generator<unknown, T>,
      ) {
        const held = (function* () {
          const first = work.next();
          if (first.done) return first.value;
          firstSlice.resolve();
          while (!isOtherServed) yield;
          return yield* work;
        })();
        return run.call(this, owner, held) as Promise<T>;
      });
      const large = app.request('POST', '/v1/usage', { key: quick.relayKey, body: batch('large', 1_000) });
      await firstSlice.promise;
      const small = await app.request('POST', '/v1/usage', { key: slow.relayKey, body: batch('small', 10) });
      expect(small).toMatchObject({ status: 200, json: { charged: 10 } });
      isOtherServed = true;
      expect(await large).toMatchObject({ status: 200, json: { charged: 1_000 } });
    });

    test('waits for no turn if it is small, and for those of its tenant if it is large', async () => {
      const turns = vi.spyOn(Turns.prototype, 'run');
      for (const [tenant, count] of [
        [quick, 10],
        [slow, 1_000],
        [quick, 1_000],
      ] as const) {
        const body = batch(`turns-${turns.mock.calls.length}`, count);
        const { status } = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body });
        expect(status).toBe(200);
      }
      const owners = turns.mock.calls.map(([owner]) => renderTenantId(owner as TenantId));
      expect(owners).toStrictEqual([slow.id, quick.id]);
    });
  });
});
