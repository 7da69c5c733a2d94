/**
 * A chunk: the archived records of some postings of a tenant, one after the other, as three compressed columns.
 *
 * Columns are apart, because a search reads the ids alone, and an erasure rewrites the names alone. An amount is stored as the
 * difference to what its rate card lets expect, which is nearly always 0 or 1.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { assert } from '../../../base/lib/assert.ts';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import type { RateCard } from '../../pricing/rate-card.ts';
import { ROLES, type Role, TIERS, type Tier } from '../../pricing/role.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';
import type { ChargedRecord } from '../charged-record.ts';
import { packIds, unpackIds } from './id-column.ts';
import { NameColumn } from './name-column.ts';

/** A posting whose records a chunk has, with the rate card that they were charged by. */
export interface ChunkPosting {
  readonly seq: bigint;
  readonly records: number;
  readonly rateVersion: number;
}

/** Rate cards by version. A chunk needs those of its postings. */
export type Cards = ReadonlyMap<number, RateCard>;

/** Whose chunk it is: its columns fit no other. */
export interface ChunkKey {
  readonly tenant: TenantId;
  readonly number: number;
}

/** The columns as they are stored, each with a checksum that the key of the chunk is part of. */
export interface Columns {
  readonly numbers: Buffer;
  readonly ids: Buffer;
  readonly names: Buffer;
}

export class DamagedColumnError extends Error {
  override readonly name = 'DamagedColumnError';
}

/** Packs the records of these postings, in their order and complete. Others run between its columns. */
export async function packChunk(
  key: ChunkKey,
  postings: readonly ChunkPosting[],
  records: readonly ChargedRecord[],
  cards: Cards,
): Promise<Columns> {
  return {
    numbers: await compress(packNumbers(postings, records, cards), seedOf(key, 'numbers')),
    ids: await compress(packIds(records.map(({ id }) => id)), seedOf(key, 'ids')),
    names: await packNames(key, NameColumn.of(records)),
  };
}

export function packNames(key: ChunkKey, names: NameColumn): Promise<Buffer> {
  return compress(names.pack(), seedOf(key, 'names'));
}

/** An empty part in front: the columns of numbers are in planes. Chunks of the first version are without it. */
const IN_PLANES = new ByteWriter();

function packNumbers(
  postings: readonly ChunkPosting[],
  records: readonly ChargedRecord[],
  cards: Cards,
): Buffer {
  const [heads, codes, seconds, egress, ingress, amounts] = Array.from({ length: 6 }, () => new ByteWriter());
  const expected = expectationsOf(cards);
  let seq = 0n;
  let row = 0;
  for (const posting of postings) {
    heads!.number(Number(posting.seq - seq));
    heads!.number(posting.records);
    heads!.number(posting.rateVersion);
    seq = posting.seq;
    const card = expected(posting);
    for (let line = 0; line < posting.records; line += 1, row += 1) {
      const record = records[row];
      assert(record?.seq === seq && record.line === line, 'each record of a posting, in order');
      const [code, sent] = [codeOf(record), safe(record.egressBytes)];
      codes!.number(code);
      seconds!.number(record.seconds);
      egress!.number(sent);
      ingress!.number(safe(record.ingressBytes));
      amounts!.signed(safe(record.amount) - expectAmount(card, code, record.seconds, sent));
    }
  }
  assert(row === records.length, 'records of these postings alone');
  const packed = new ByteWriter();
  packed.part(IN_PLANES);
  packed.part(heads!);
  for (const part of [codes!, seconds!, egress!, ingress!, amounts!]) packed.planes(part);
  return packed.written();
}

function safe(value: bigint): number {
  const number = Number(value);
  assert(Number.isSafeInteger(number), 'a number that a chunk can hold');
  return number;
}

function codeOf({ role, tier, capped }: Pick<ChargedRecord, 'role' | 'tier' | 'capped'>): number {
  return (ROLES.indexOf(role) * TIERS.length + TIERS.indexOf(tier)) * 2 + Number(capped);
}

/** What each card lets expect, by the posting that it charged. Worked out once for all postings. */
function expectationsOf(cards: Cards): (posting: ChunkPosting) => Expected {
  const byVersion = new Map([...cards].map(([version, card]) => [version, expectedOf(card)]));
  return ({ rateVersion }) => {
    const expected = byVersion.get(rateVersion);
    assert(expected, 'the rate card of a posting');
    return expected;
  };
}

/** Micros a byte and a second, by code. Inexact, but the same numbers each time. */
interface Expected {
  readonly fee: number;
  readonly ceilings: readonly number[];
}

function expectedOf(card: RateCard): Expected {
  const ceilings = ROLES.flatMap((role) =>
    TIERS.map((tier) => Number(card.ceilingPer1000Minutes[role][tier]) / 60_000),
  );
  return { fee: Number(card.platformFeePerGib) / 2 ** 30, ceilings };
}

/** About what a record costs, in whole micros. */
function expectAmount({ fee, ceilings }: Expected, code: number, seconds: number, egress: number): number {
  return Math.floor(Math.min(fee * egress, ceilings[code >> 1]! * seconds));
}

/** A stored chunk, whose columns are read when they are asked for. */
export class Chunk {
  readonly #key: ChunkKey;
  readonly #columns: Columns;
  readonly #readCards: () => Promise<Cards>;
  #cards: Promise<Cards> | undefined;

  constructor(key: ChunkKey, columns: Columns, readCards: () => Promise<Cards>) {
    this.#key = key;
    this.#columns = columns;
    this.#readCards = readCards;
  }

  /** What `records()` needs of the database. Call it before, where unpacking has to wait for no connection. */
  cards(): Promise<Cards> {
    this.#cards ??= this.#readCards();
    return this.#cards;
  }

  async ids(): Promise<string[]> {
    return unpackIds(await this.#column('ids'));
  }

  async names(): Promise<NameColumn> {
    return NameColumn.unpack(await this.#column('names'));
  }

  async postings(): Promise<ChunkPosting[]> {
    return (await this.#numbers()).postings;
  }

  /** The records that are wanted, by row or posting, in their order. `known`: what `ids()` gave. */
  async records(
    isWanted: (row: number, seq: bigint) => boolean = () => true,
    known?: readonly string[],
  ): Promise<ChargedRecord[]> {
    const ids = known ?? (await this.ids());
    const names = await this.names();
    const { postings, nextColumn } = await this.#numbers();
    const [codes, seconds, egress, ingress, amounts] = Array.from({ length: 5 }, nextColumn);
    const expected = expectationsOf(await this.cards());
    const records: ChargedRecord[] = [];
    let row = 0;
    for (const posting of postings) {
      const card = expected(posting);
      for (let line = 0; line < posting.records; line += 1, row += 1) {
        const code = codes!.number();
        const own = seconds!.number();
        const sent = egress!.number();
        const received = ingress!.number();
        const more = amounts!.signed();
        if (!isWanted(row, posting.seq)) continue;
        records.push({
          seq: posting.seq,
          line,
          id: ids[row]!,
          ...names.at(row),
          ...wordsOf(code),
          seconds: own,
          egressBytes: BigInt(sent),
          ingressBytes: BigInt(received),
          amount: BigInt(expectAmount(card, code, own, sent) + more),
          capped: code % 2 === 1,
        });
      }
    }
    return records;
  }

  async #numbers(): Promise<NumberColumns> {
    const parts = new ByteReader(await this.#column('numbers'));
    const first = parts.part();
    const isInPlanes = first.isAtEnd;
    const postings = readPostings(isInPlanes ? parts.part() : first);
    return { postings, nextColumn: () => (isInPlanes ? parts.planes() : parts.part()) };
  }

  async #column(column: keyof Columns): Promise<Buffer> {
    const bytes = await decompress(this.#columns[column], seedOf(this.#key, column));
    if (bytes) return bytes;
    const { tenant, number } = this.#key;
    const name = `chunk ${number} of the usage records of ${renderTenantId(tenant)}`;
    throw new DamagedColumnError(`${name}: the bytes of its ${column} are damaged`);
  }
}

interface NumberColumns {
  readonly postings: ChunkPosting[];
  /** The next of the others. */
  readonly nextColumn: () => Pick<ByteReader, 'number' | 'signed'>;
}

function readPostings(heads: ByteReader): ChunkPosting[] {
  const postings: ChunkPosting[] = [];
  let seq = 0n;
  while (!heads.isAtEnd) {
    seq += BigInt(heads.number());
    postings.push({ seq, records: heads.number(), rateVersion: heads.number() });
  }
  return postings;
}

function wordsOf(code: number): { readonly role: Role; readonly tier: Tier } {
  const pair = code >> 1;
  return { role: ROLES[Math.floor(pair / TIERS.length)]!, tier: TIERS[pair % TIERS.length]! };
}

const CHECKSUM_BYTES = 4;
/** Small blocks, each with a code of its own: bytes of one kind are a block or more. */
const MEM_LEVEL = 6;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** What the checksum of a column begins with. */
function seedOf({ tenant, number }: ChunkKey, column: keyof Columns): number {
  return crc32(`${tenant} ${number} ${column}`);
}

/** The checksum of what follows, and the compressed bytes. */
async function compress(bytes: Buffer, seed: number): Promise<Buffer> {
  const compressed = await deflate(bytes, { memLevel: MEM_LEVEL });
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(compressed, seed));
  return Buffer.concat([checksum, compressed]);
}

/** `undefined`: the checksum is that of other bytes, or of another chunk. The first versions of chunks have one without a seed. */
async function decompress(stored: Buffer, seed: number): Promise<Buffer | undefined> {
  if (stored.length < CHECKSUM_BYTES) return undefined;
  const compressed = stored.subarray(CHECKSUM_BYTES);
  const checksum = stored.readUInt32BE();
  if (checksum !== crc32(compressed, seed) && checksum !== crc32(compressed)) return undefined;
  return inflate(compressed);
}
