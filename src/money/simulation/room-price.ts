/** What a room would cost: the production price of the records that a relay would report. Pure. */
import type { Terms } from '../pricing/pricing-rule.ts';
import type { Usage } from '../pricing/usage-price.ts';

/** Participants who are alike. Role, tier, seconds and bytes are those of each one. */
export interface SimulatedParticipants extends Usage {
  readonly count: number;
  /** The interval that the relay reports, in seconds; `undefined`: one record for the whole time. */
  readonly intervalSeconds: number | undefined;
}

/** Fee, ceiling and price are exact: over PRICE_DENOMINATOR. `amount` is in micros. */
export interface LinePrice {
  readonly participants: number;
  readonly records: bigint;
  readonly fee: bigint;
  readonly ceiling: bigint;
  readonly price: bigint;
  /** The ceiling lowered the price. */
  readonly capped: boolean;
  readonly amount: bigint;
}

export interface RoomPrice {
  readonly lines: readonly LinePrice[];
  readonly participants: number;
  readonly records: bigint;
  /** Exact: over PRICE_DENOMINATOR, as the carries are. */
  readonly price: bigint;
  /** Micros. */
  readonly amount: bigint;
  readonly carryBefore: bigint;
  readonly carryAfter: bigint;
}

/** Price the lines in order, as if they were reported one after the other. */
export function priceRoom(
  room: readonly SimulatedParticipants[],
  terms: Terms,
  carryBefore: bigint,
): RoomPrice {
  const lines: LinePrice[] = [];
  let carryAfter = carryBefore;
  for (const participants of room) {
    const { carry, ...line } = priceLine(participants, terms, carryAfter);
    carryAfter = carry;
    lines.push(line);
  }
  return {
    lines,
    participants: room.reduce((total, { count }) => total + count, 0),
    records: sum(lines, 'records'),
    price: sum(lines, 'price'),
    amount: sum(lines, 'amount'),
    carryBefore,
    carryAfter,
  };
}

function sum(lines: readonly LinePrice[], field: 'records' | 'price' | 'amount'): bigint {
  return lines.reduce((total, line) => total + line[field], 0n);
}

function priceLine(
  participants: SimulatedParticipants,
  { rates, rule, rounding }: Terms,
  carryBefore: bigint,
): LinePrice & { readonly carry: bigint } {
  const line = { records: 0n, fee: 0n, ceiling: 0n, price: 0n, capped: false, amount: 0n };
  let carry = carryBefore;
  for (const { usage, times } of recordsOf(participants)) {
    const records = times * BigInt(participants.count);
    const { numerator, capped } = rule.price(usage, rates);
    const settled = rule.settleEqual(numerator, records, carry, rounding);
    line.records += records;
    line.fee += rule.fee(usage, rates) * records;
    line.ceiling += rule.ceiling(usage, rates) * records;
    line.price += numerator * records;
    line.capped ||= capped;
    line.amount += settled.amount;
    carry = settled.carry;
  }
  return { participants: participants.count, ...line, carry };
}

/** Equal records of one participant. */
export interface EqualRecords {
  readonly usage: Usage;
  readonly times: bigint;
}

/**
 * The records of one participant, without those of which there are none.
 *
 * The bytes are spread evenly over the time, in whole bytes. So the records of whole intervals differ by a
 * byte at most, and the last one may be shorter.
 */
export function recordsOf({
  role,
  tier,
  seconds,
  egressBytes,
  intervalSeconds = seconds,
}: SimulatedParticipants): EqualRecords[] {
  if (intervalSeconds >= seconds) return [{ usage: { role, tier, seconds, egressBytes }, times: 1n }];
  const whole = BigInt(Math.floor(seconds / intervalSeconds));
  const rest = seconds % intervalSeconds;
  const bytesOfWhole = (egressBytes * whole * BigInt(intervalSeconds)) / BigInt(seconds);
  const least = bytesOfWhole / whole;
  const larger = bytesOfWhole % whole;
  const interval = { role, tier, seconds: intervalSeconds };
  return [
    { usage: { ...interval, egressBytes: least }, times: whole - larger },
    { usage: { ...interval, egressBytes: least + 1n }, times: larger },
    {
      usage: { role, tier, seconds: rest, egressBytes: egressBytes - bytesOfWhole },
      times: rest > 0 ? 1n : 0n,
    },
  ].filter(({ times }) => times > 0n);
}
