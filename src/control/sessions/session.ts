/**
 * Sessions: what one participant did in one room incarnation, from entering to leaving.
 *
 * A session keeps the sums of its usage, so it needs neither the records nor the participant, and is kept for ever.
 */
import { isId } from '../../base/lib/ids.ts';
import { type Role, TIERS, type Tier } from '../../money/pricing/role.ts';
import type { Measures } from '../../money/usage/usage-summary.ts';
import type { LeaveReason } from '../rooms/participant.ts';

/** Devices that a session names. A participant may have more; they are in the sums. */
export const SESSION_DEVICES_MAX = 100;

export const SESSIONS_PAGE_USUAL = 100;
export const SESSIONS_PAGE_MAX = 1_000;

/** Records that a session shows: the newest. */
export const SESSION_RECORDS_MAX = 20;

export function isSessionId(text: string): boolean {
  return isId('se', text);
}

/** Sums of usage records. */
export interface SessionUsage extends Omit<Measures, 'seconds'> {
  /** By tier, in the order of TIERS. */
  readonly seconds: readonly bigint[];
}

export interface Session {
  readonly id: string;
  readonly room: string;
  readonly roomUid: string;
  readonly participant: string;
  readonly role: Role;
  /** The API key or device credential that admitted the participant first; `null`: it is not known. */
  readonly keyId: string | null;
  readonly customer: string | null;
  /** Thumbprints of the keys of its devices. */
  readonly devices: readonly string[];
  readonly enteredAt: Date;
  /** `null` while present. */
  readonly leftAt: Date | null;
  readonly leaveReason: LeaveReason | null;
  /** The first and the last posting that has records of it; `null`: there are none. */
  readonly firstSeq: bigint | null;
  readonly lastSeq: bigint | null;
  readonly usage: SessionUsage;
}

export interface SessionFilter {
  readonly room: string | undefined;
  readonly participant: string | undefined;
  readonly key: string | undefined;
  readonly customer: string | undefined;
  /** Only sessions that began from then on, and before then. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** Where the next page begins: after this session. */
export interface SessionPlace {
  /** Microseconds since 1970. */
  readonly entered: bigint;
  readonly id: string;
}

export type ListedSession = Session & Pick<SessionPlace, 'entered'>;

export const NO_USAGE: SessionUsage = {
  records: 0n,
  seconds: TIERS.map(() => 0n),
  egressBytes: 0n,
  ingressBytes: 0n,
  amount: 0n,
  unbilled: 0n,
};

export function addUsage(one: SessionUsage, other: SessionUsage): SessionUsage {
  return {
    records: one.records + other.records,
    seconds: one.seconds.map((seconds, at) => seconds + other.seconds[at]!),
    egressBytes: one.egressBytes + other.egressBytes,
    ingressBytes: one.ingressBytes + other.ingressBytes,
    amount: one.amount + other.amount,
    unbilled: one.unbilled + other.unbilled,
  };
}

/** The seconds of all tiers. */
export function totalSeconds({ seconds }: SessionUsage): bigint {
  return seconds.reduce((sum, each) => sum + each, 0n);
}

/** The seconds of each tier. */
export function secondsByTier({ seconds }: SessionUsage): Readonly<Record<Tier, bigint>> {
  return Object.fromEntries(TIERS.map((tier, at) => [tier, seconds[at]!])) as Record<Tier, bigint>;
}
