/** All limits of tenants, which the features declare. An operator may change each for one tenant. */
import { DEVICE_CREDENTIALS_LIMIT } from '../access/devices/device-credential.ts';
import { API_KEYS_LIMIT } from '../access/keys/api-key.ts';
import { KEY_REQUESTS_LIMIT } from '../access/keys/key-rate.ts';
import { INVITATIONS_LIMIT } from '../access/members/invitation-limit.ts';
import { CONSOLE_REQUESTS_LIMIT } from '../access/sessions/request-limit.ts';
import { CALLS_LIMIT } from '../base/tenants/call-queue.ts';
import type { TenantLimit } from '../base/tenants/limits.ts';
import { BANS_LIMIT } from '../control/bans/ban.ts';
import { BUDGETS_LIMIT } from '../control/budgets/budget.ts';
import { RELAY_STREAMS_LIMIT } from '../control/revocations/follower-limit.ts';
import { ROOMS_LIMIT } from '../control/rooms/room.ts';
import { CONSOLE_STREAMS_LIMIT, STREAMS_LIMIT } from '../control/streams/stream-limit.ts';
import { ROOM_WATCHDOGS_LIMIT, WATCHDOGS_LIMIT } from '../control/watchdogs/watchdog.ts';
import { CHECKOUTS_LIMIT } from '../money/checkouts/checkout-limit.ts';
import { RESENDS_LIMIT } from '../outward/webhooks/resend-limit.ts';

/** In the order in which operators see them. */
export const TENANT_LIMITS = [
  STREAMS_LIMIT,
  CONSOLE_STREAMS_LIMIT,
  RELAY_STREAMS_LIMIT,
  CALLS_LIMIT,
  KEY_REQUESTS_LIMIT,
  CONSOLE_REQUESTS_LIMIT,
  CHECKOUTS_LIMIT,
  INVITATIONS_LIMIT,
  RESENDS_LIMIT,
  API_KEYS_LIMIT,
  DEVICE_CREDENTIALS_LIMIT,
  ROOMS_LIMIT,
  ROOM_WATCHDOGS_LIMIT,
  WATCHDOGS_LIMIT,
  BANS_LIMIT,
  BUDGETS_LIMIT,
] as const satisfies readonly TenantLimit[];

export const LIMIT_NAMES = TENANT_LIMITS.map(({ name }) => name);

export type LimitName = (typeof LIMIT_NAMES)[number];
