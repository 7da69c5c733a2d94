/** Watchdogs: timers on a condition of a room, which act once when it has held for long enough. */
import type { TenantLimit } from '../../base/tenants/limits.ts';

export const ROOM_WATCHDOGS_LIMIT = {
  name: 'room_watchdogs',
  pending: 2,
  active: 20,
  unit: 'waiting watchdogs of one room',
} as const satisfies TenantLimit;

export const WATCHDOGS_LIMIT = {
  name: 'watchdogs',
  pending: 1_000,
  active: 10_000,
  unit: 'waiting watchdogs',
} as const satisfies TenantLimit;
export const WATCHDOG_CONDITIONS = [
  'max_duration',
  'unused_for',
  'empty_for',
  'host_absent_for',
  'alone_for',
  'participant_max_duration',
  'unadmitted_for',
] as const;
export type WatchdogCondition = (typeof WATCHDOG_CONDITIONS)[number];

/** What people read, before the time. */
export const CONDITION_WORDS: Readonly<Record<WatchdogCondition, string>> = {
  max_duration: 'the room is live for',
  unused_for: 'no user ever came for',
  empty_for: 'the room is empty for',
  host_absent_for: 'no host is there for',
  alone_for: 'a participant is alone for',
  participant_max_duration: 'a participant stays for',
  unadmitted_for: 'there is no credit for',
};

export const WATCHDOG_ACTIONS = ['end_room', 'kick', 'revoke_publish', 'notify'] as const;
export type WatchdogAction = (typeof WATCHDOG_ACTIONS)[number];

/** What people read. */
export const WATCHDOG_ACTION_WORDS: Readonly<Record<WatchdogAction, string>> = {
  end_room: 'end the room',
  kick: 'kick',
  revoke_publish: 'stop all publishing',
  notify: 'only tell of it',
};

export type WatchdogState = 'armed' | 'warned' | 'fired' | 'disarmed';

export const DURATION_MS_MIN = 1_000;
export const DURATION_MS_MAX = 366 * 86_400_000;

/** What a watchdog waits for, and what it does then. */
export interface WatchdogRule {
  readonly condition: WatchdogCondition;
  readonly durationMs: number;
  readonly action: WatchdogAction;
  /** 0: no warning. */
  readonly warnBeforeMs: number;
}

export interface Watchdog extends WatchdogRule {
  readonly id: string;
  readonly room: string;
  readonly roomUid: string;
  readonly state: WatchdogState;
  /** When it will fire if nothing changes; `null` while its condition does not hold. */
  readonly deadline: Date | null;
  readonly firedAt: Date | null;
  readonly createdAt: Date;
}

/** A watchdog, in the audit trail. */
export function auditedRule({ condition, durationMs, action, warnBeforeMs, roomUid }: Watchdog) {
  return {
    condition,
    duration_ms: durationMs,
    action,
    warn_before_ms: warnBeforeMs,
    room_uid: roomUid,
  };
}

/** Where a page of watchdogs ends. */
export interface WatchdogPosition {
  /** When the last one was created, in microseconds since 1970, as text. */
  readonly createdMicros: string;
  readonly id: string;
}
