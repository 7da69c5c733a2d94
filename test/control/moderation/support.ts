/** A room with users who enter and leave. */
import { createHash } from 'node:crypto';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { expect } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { moved } from '../../support/append-only.ts';
import { verify } from '../../support/devices.ts';
import type { TestControl, useControl } from '../../support/grpc.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import type { TestService, TestTenant } from '../../support/service.ts';

export interface Stage {
  readonly tenant: TestTenant;
  readonly control: TestControl;
  /** Uid of the room `lobby`. */
  readonly roomUid: string;
}

/** A tenant that has paid, with a room `lobby`. */
export async function newStage(app: TestService, controlOf: ReturnType<typeof useControl>): Promise<Stage> {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  const { room } = await control.call(RoomService.method.createRoom, { room: 'lobby' });
  return { tenant, control, roomUid: room!.uid };
}

/** The thumbprint of a user's device. */
export function deviceOf(username: string): string {
  return createHash('sha256').update(username).digest('base64url');
}

export function actor(username: string) {
  return { username, deviceThumbprint: deviceOf(username) };
}

export interface Mint {
  readonly room?: string;
  readonly device?: string;
  readonly role?: string;
  readonly rank?: number;
  readonly capabilities?: string[];
  readonly address?: string;
  readonly customer?: string;
}

/** Mint a token. Hosts have every moderating capability, and rank 80 unless another one is given. */
export function mint({ control }: Pick<Stage, 'control'>, username: string, options: Mint = {}) {
  const { room = 'lobby', device = deviceOf(username), role = 'audience', capabilities = [] } = options;
  return control.call(TokenService.method.mintClientToken, {
    room,
    username,
    deviceThumbprint: device,
    role,
    capabilities,
    clientAddress: options.address ?? '',
    customer: options.customer ?? '',
    ...(options.rank !== undefined && { rank: options.rank }),
  });
}

/** The epoch and the capabilities that a relay reads in a token. */
export async function read(app: TestService, { token }: { token: string }) {
  const { ep, cap } = await verify(app, token);
  return { ep: ep as number, cap: cap as string[] };
}

/** Whether a statement waits for a lock. */
export async function isLockAwaited(app: TestService): Promise<boolean> {
  return (await countLockWaiters(app.service.deps.db)) > 0;
}

/** The tenant's events after number `after`, with type and subject. */
export async function eventsSince(app: TestService, tenant: { id: string }, after = 0n) {
  const { db } = app.service.deps;
  await numberEvents(db, [parseTenantId(tenant.id)!]);
  const { rows } = await db.query<{ seq: bigint; type: string; subject: unknown }>(
    'select seq, type, room_uid as "roomUid", subject from events where tenant_id = $1 and seq > $2 order by seq',
    [parseTenantId(tenant.id), after],
  );
  return rows;
}

export async function lastSeq(app: TestService, tenant: { id: string }): Promise<bigint> {
  return (await eventsSince(app, tenant)).at(-1)?.seq ?? 0n;
}

/**
 * Let the temporary bans of a tenant expire. In hours, because a year before 28 and 29 February is the same
 * day.
 */
export async function passBans(app: TestService, tenant: { id: string }): Promise<void> {
  const { rowCount } = await app.service.deps.db.query(
    `update bans set created_at = ${moved('created_at', '-9000 h')}, expires_at = ${moved('expires_at', '-9000 h')}
      where tenant_id = $1 and expires_at is not null`,
    [parseTenantId(tenant.id)],
  );
  expect(rowCount).toBeGreaterThan(0);
}
