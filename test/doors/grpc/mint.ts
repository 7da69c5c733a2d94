/** One-line helpers to mint participants in control-plane tests. */
import { randomBytes } from 'node:crypto';
import {
  type MintClientTokenRequestSchema,
  type MintClientTokenResponse,
  TokenService,
} from '@boxoffice/contract/token_service';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import type { TestControl } from '../../support/grpc.ts';
import { noteEarlierLapses } from '../../support/lapses.ts';
import type { TestService } from '../../support/service.ts';

/** A new thumbprint. */
export function newThumbprint(): string {
  return randomBytes(32).toString('base64url');
}

type Fields = Omit<MessageInitShape<typeof MintClientTokenRequestSchema>, '$typeName' | 'tenant'>;

/** A token for `ann` in `lobby` on a new device, unless `fields` override them. */
export function mint(control: TestControl, fields: Fields = {}): Promise<MintClientTokenResponse> {
  const request = { room: 'lobby', username: 'ann', deviceThumbprint: newThumbprint(), ...fields };
  return control.call(TokenService.method.mintClientToken, request);
}

/** The participant events so far, in order: `entered ann`, `left bob`. */
export async function toldOf(app: TestService, tenant: { id: string }): Promise<string[]> {
  const { db } = app.service.deps;
  await numberEvents(db, [parseTenantId(tenant.id)!]);
  const { rows } = await db.query<{ what: string }>(
    `select replace(type, 'participant_', '') || ' ' || (subject->>'username') as what from events
      where tenant_id = $1 and type like 'participant%' order by seq`,
    [parseTenantId(tenant.id)],
  );
  return rows.map((row) => row.what);
}

/** Expire tokens: as if they had been minted `seconds` longer ago than their lifetime. */
export async function lapse(
  app: TestService,
  tenant: { id: string },
  { username = '%', seconds = 1 } = {},
): Promise<void> {
  for (const table of ['participants', 'admissions']) {
    await app.service.deps.db.query(
      `update ${table} set expires_at = now() - make_interval(secs => $3)
        where tenant_id = $1 and username like $2`,
      [parseTenantId(tenant.id), username, seconds],
    );
  }
  await noteEarlierLapses(app.service.deps.db, parseTenantId(tenant.id)!);
}
