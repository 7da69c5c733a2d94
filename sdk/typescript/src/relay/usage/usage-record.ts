/**
 * Usage records: the traffic of one participant in one interval.
 *
 * Source: specification 2.6. The rules are checked here and by the service, because a relay can
 * still fix its call, while a refused record can only be quarantined.
 */
import { UsageError } from './errors.ts';

export const ROLES = ['host', 'audience', 'broadcast_audience'] as const;
export const TIERS = ['audio', 'hd', 'full_hd', '2k', '2k_plus'] as const;

/** The role of a participant in a room, which determines the price. */
export type Role = (typeof ROLES)[number];
/** The video resolution that a participant receives, in pricing tiers: see `tierOf`. */
export type Tier = (typeof TIERS)[number];

/** The traffic of one participant in one interval. */
export interface ParticipantUsage {
  /** Identifies the participant's stay, 1 to 64 of `A-Z a-z 0-9 _ -`. It becomes part of the id. Default `0`. */
  readonly sessionId?: string | undefined;
  /** If given, the service refuses the record unless the key belongs to this tenant. */
  readonly tenant?: string | undefined;
  /** Name of the room, which the ledger shows: at most 200 characters. */
  readonly room?: string | undefined;
  /** Name of the participant, which the ledger shows: at most 200 characters. */
  readonly participant?: string | undefined;
  /** It decides the ceiling of the price. */
  readonly role: Role;
  /** It decides the ceiling of the price: see `tierOf`. */
  readonly tier: Tier;
  /** Whole seconds connected in this interval. More than a day becomes several records. */
  readonly seconds: number;
  /** Bytes sent to the participant. */
  readonly egressBytes: number;
  /** Bytes received from the participant. */
  readonly ingressBytes: number;
}

export const SECONDS_MAX = 86_400;

/** A longer interval is a mistake, and would flood the spool with its parts. */
const PARTS_MAX = 100;
/** Characters of `room` and of `participant`. */
const TEXT_MAX = 200;
const LINE_BYTES_MAX = 65_536;
const ID_PART = /^[A-Za-z0-9_-]{1,64}$/;

export function isIdPart(text: unknown): text is string {
  return typeof text === 'string' && ID_PART.test(text);
}

/** The tier for a number of pixels: the sum of all video streams that the participant receives at once. */
export function tierOf(pixels: number): Tier {
  if (pixels <= 0) return 'audio';
  if (pixels <= 1280 * 720) return 'hd';
  if (pixels <= 1920 * 1080) return 'full_hd';
  if (pixels <= 2560 * 1440) return '2k';
  return '2k_plus';
}

/** Throws `invalid_usage` for what the service would refuse. */
export function checkUsage(usage: ParticipantUsage): void {
  const { sessionId, tenant, room, participant, role, tier, seconds } = usage;
  check(sessionId === undefined || isIdPart(sessionId), 'sessionId must be 1 to 64 of A-Z a-z 0-9 _ -');
  for (const [name, text] of Object.entries({ tenant, room, participant })) {
    check(text === undefined || isText(text), `${name} must be well-formed text without NUL`);
  }
  for (const [name, text] of Object.entries({ room, participant })) {
    check([...(text ?? '')].length <= TEXT_MAX, `${name} must have at most ${TEXT_MAX} characters`);
  }
  check(ROLES.includes(role), `role must be one of ${ROLES.join(', ')}`);
  check(TIERS.includes(tier), `tier must be one of ${TIERS.join(', ')}`);
  checkCount('seconds', seconds);
  check(seconds <= SECONDS_MAX * PARTS_MAX, `seconds must be at most ${SECONDS_MAX * PARTS_MAX}`);
  checkCount('egressBytes', usage.egressBytes);
  checkCount('ingressBytes', usage.ingressBytes);
}

export function checkCount(name: string, value: number): void {
  check(Number.isSafeInteger(value) && value >= 0, `${name} must be a whole number from 0 to 2^53 - 1`);
}

function isText(text: unknown): boolean {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0');
}

function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new UsageError('invalid_usage', message);
}

/** Split usage into parts of at most a day, with bytes shared out by time. The sums stay the same. */
export function splitByDay(usage: ParticipantUsage): ParticipantUsage[] {
  const parts = Math.max(1, Math.ceil(usage.seconds / SECONDS_MAX));
  if (parts === 1) return [usage];

  const total = BigInt(usage.seconds);
  const upTo = (bytes: number, end: number) => Number((BigInt(bytes) * BigInt(end)) / total);
  return Array.from({ length: parts }, (_, part) => {
    const start = part * SECONDS_MAX;
    const end = Math.min(usage.seconds, start + SECONDS_MAX);
    return {
      ...usage,
      seconds: end - start,
      egressBytes: upTo(usage.egressBytes, end) - upTo(usage.egressBytes, start),
      ingressBytes: upTo(usage.ingressBytes, end) - upTo(usage.ingressBytes, start),
    };
  });
}

/** The record in wire format: one line of JSON, without empty names. Throws `invalid_usage` if it is far too long. */
export function renderRecord(id: string, usage: ParticipantUsage): string {
  const line = JSON.stringify({
    id,
    tenant: usage.tenant || undefined,
    room: usage.room || undefined,
    participant: usage.participant || undefined,
    role: usage.role,
    tier: usage.tier,
    seconds: usage.seconds,
    egress_bytes: usage.egressBytes,
    ingress_bytes: usage.ingressBytes,
  });
  check(
    Buffer.byteLength(line) <= LINE_BYTES_MAX,
    `a record must be at most ${LINE_BYTES_MAX} bytes of JSON`,
  );
  return line;
}
