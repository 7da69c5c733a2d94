import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import { copyRecords } from '../../../src/money/records/copy-records.sql.ts';
import { Buffers, copyRows, type PostedRecords } from '../../../src/money/records/copy-rows.ts';
import { findKnown } from '../../../src/money/records/known-records.sql.ts';
import { repeats } from '../../../src/money/records/stored-record.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { anyCharacter } from '../../support/characters.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

let made = 0;

function record(fields: Partial<UsageRecord> = {}): UsageRecord {
  made += 1;
  return {
    id: `copied-${made}`,
    room: undefined,
    participant: undefined,
    role: 'host',
    tier: 'hd',
    seconds: 60,
    egressBytes: 1n,
    ingressBytes: 2n,
    ...fields,
  };
}

interface Posted {
  readonly tenant: bigint;
  readonly seq: bigint;
  /** By batch; `false`: a known record that is not stored. */
  readonly batches: readonly (readonly { record: UsageRecord; amount: bigint; isNew: boolean }[])[];
}

function postedOf({ tenant, seq, batches }: Posted): PostedRecords {
  const charged = batches.map((batch) => {
    let count = 0;
    const lines = Int16Array.from(batch, ({ isNew }) => (isNew ? count++ : -1));
    return {
      records: UsageRecords.from(batch.map((each) => each.record)),
      lines,
      count,
      amounts: BigInt64Array.from(batch, ({ amount }) => amount),
      capped: Uint8Array.from(batch, ({ amount }) => Number(amount % 2n)),
    };
  });
  return { tenant: tenant as TenantId, seq, charged };
}

/** The stored fields of a record, in one canonical form. */
const stored = (posting: Posted, { record: of, amount }: Posted['batches'][0][0], line: number) => ({
  tenant: posting.tenant,
  seq: posting.seq,
  line,
  id: of.id,
  room: of.room ?? null,
  participant: of.participant ?? null,
  seconds: of.seconds,
  egress: of.egressBytes,
  ingress: of.ingressBytes,
  amount,
  capped: amount % 2n === 1n,
});

/** Copy, and compare the rows in PostgreSQL with the input. */
async function expectStored(postings: readonly Posted[]): Promise<void> {
  const tx = await database.pool.connect();
  try {
    await tx.query('begin');
    await runTogether(tx, [copyRecords(postings.map(postedOf), new Buffers())]);
    const { rows } = await tx.query(
      `select tenant_id as tenant, posting_seq as seq, line, id, room, participant, seconds, egress_bytes as egress,
              ingress_bytes as ingress, amount, capped from usage_records order by tenant_id, posting_seq, line`,
    );
    const fresh = postings.map((posting) => posting.batches.flat().filter(({ isNew }) => isNew));
    expect(rows).toStrictEqual(
      postings.flatMap((posting, at) => fresh[at]!.map((each, line) => stored(posting, each, line))),
    );
    const ids = postings.flatMap(({ tenant }, at) =>
      fresh[at]!.map(({ record: { id } }) => ({ tenant: tenant as TenantId, id })),
    );
    const known = await findKnown(tx, ids);
    for (const [at, { tenant }] of postings.entries()) {
      for (const each of fresh[at]!) {
        const found = known.get(tenant as TenantId)?.get(each.record.id);
        expect(found && repeats(found, each.record)).toBe(true);
      }
    }
  } finally {
    await tx.query('rollback');
    tx.release();
  }
}

const copied = (...records: UsageRecord[]): Posted => ({
  tenant: 7n,
  seq: 1n,
  batches: [records.map((each, at) => ({ record: each, amount: BigInt(at), isNew: true }))],
});

describe('copyRows', () => {
  it.each([
    ['tabs and newlines', 'a\tb\nc\rd'],
    ['what a COPY of text would take for something else', '\\N'],
    ['the end of a COPY of text', '\\.\n'],
    ['backslashes', '\\\\ \\t \\x41 \\'],
    ['characters of four bytes', '🎥👩‍👩‍👧‍👦\u{10ffff}'],
    ['control characters', '\u0001\u001f\u007f\u0080'],
    ['nothing at all', ''],
  ])('keeps %s', async (_what, text) => {
    await expectStored([copied(record({ id: `${text}.`, room: text, participant: text }))]);
  });

  it('keeps a text that is longer than a piece, between short ones', async () => {
    const wide = '🎥x'.repeat(100_000);
    expect(Buffer.byteLength(wide)).toBe(500_000);
    await expectStored([
      copied(
        record({ id: 'b1' }),
        record({ id: 'b2', room: wide }),
        record({ id: 'b3', participant: 'short' }),
        record({ id: 'b4', room: wide, participant: wide }),
        record({ id: 'b5' }),
      ),
    ]);
    await expectStored([copied(record({ id: 'b2', room: wide }))]);
  });

  it('fills pieces to the last byte', async () => {
    // Rows of every size around a full piece and around the rest of one.
    const sizes = Array.from({ length: 40 }, (_, at) => 65_536 - 140 + at * 4);
    await expectStored([
      copied(
        ...sizes.flatMap((size) => [record({ room: 'x'.repeat(size) }), record({ room: 'y'.repeat(99) })]),
      ),
    ]);
  });

  it.each([0n, 1n, 255n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 53n - 1n])(
    'keeps the quantity %i',
    async (quantity) => {
      await expectStored([
        copied(
          record({ egressBytes: quantity }),
          record({ ingressBytes: quantity }),
          record({ egressBytes: quantity, ingressBytes: quantity }),
        ),
      ]);
    },
  );

  it('keeps every role and tier', async () => {
    await expectStored([copied(...ROLES.flatMap((role) => TIERS.map((tier) => record({ role, tier }))))]);
  });

  it('keeps 5000 records in the order of their posting, for any ids', async () => {
    const ids = Array.from({ length: 5_000 }, (_, at) => `relay.${(at * 7_919) % 5_000}`);
    await expectStored([copied(...ids.map((id) => record({ id })))]);
  });

  it('writes no row for known records, and numbers the others across all batches of a posting', async () => {
    const text = fc.option(
      fc.string({ unit: anyCharacter, maxLength: 12 }).map((given) => given.replaceAll('\0', '')),
      {
        nil: undefined,
      },
    );
    const quantity = fc.oneof(fc.bigInt(0n, 2n ** 53n - 1n), fc.constantFrom(2n ** 32n - 1n, 2n ** 32n));
    const reported = fc.record({
      fields: fc.record({
        room: text,
        participant: text,
        role: fc.constantFrom(...ROLES),
        tier: fc.constantFrom(...TIERS),
        seconds: fc.nat(86_400),
        egressBytes: quantity,
        ingressBytes: quantity,
      }),
      amount: fc.bigInt(0n, 2n ** 62n),
      isNew: fc.boolean(),
    });
    const batches = fc.array(fc.array(reported, { maxLength: 5 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(batches, { maxLength: 4 }),
        fc.bigInt(1n, 2n ** 62n),
        async (postings, seq) => {
          await expectStored(
            postings
              .map((own, at) => ({
                tenant: at % 2 === 0 ? BigInt(at) - 2n ** 62n : BigInt(at) + 2n ** 62n,
                seq,
                batches: own.map((batch) =>
                  batch.map(({ fields, ...rest }) => ({ record: record(fields), ...rest })),
                ),
              }))
              .sort((a, b) => (a.tenant < b.tenant ? -1 : 1)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('Buffers', () => {
  it('are reused once they were given back, and not before', () => {
    const many = postedOf(copied(...Array.from({ length: 3_000 }, () => record({ room: 'x'.repeat(100) }))));
    const piecesOf = (buffers: Buffers) =>
      new Set([...copyRows([many], buffers)].map(({ buffer }) => buffer));
    const first = new Buffers();
    const used = piecesOf(first);
    expect(used.size).toBeGreaterThan(5);
    const beside = piecesOf(new Buffers());
    expect(used.isDisjointFrom(beside)).toBe(true);
    first.giveBack();
    expect(used.isSubsetOf(piecesOf(new Buffers()))).toBe(true);
  });
});
