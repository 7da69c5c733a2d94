/** A crowd of tenants that never paid, with receivers that take requests and never answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '../../../src/base/lib/ids.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { secretContext, type WebhookDeps } from '../../../src/outward/webhooks/send-message.ts';
import { newSecret } from '../../../src/outward/webhooks/webhook-secret.ts';
import { makeTenant } from '../../support/tenants.ts';

export interface SilentReceiver {
  readonly url: string;
  /** Requests that it has got. */
  count(): number;
  close(): Promise<void>;
}

export async function startSilentReceiver(): Promise<SilentReceiver> {
  let requests = 0;
  const server = createServer((request) => {
    requests += 1;
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/silent`,
    count: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function makeCrowd(
  deps: Pick<WebhookDeps, 'db' | 'box'>,
  tenants: number,
  webhooksOfEach: number,
  url: string,
): Promise<TenantId[]> {
  const { db, box } = deps;
  const made: TenantId[] = [];
  while (made.length < tenants) made.push(await makeTenant(db));
  const rows = made.flatMap((tenant) =>
    Array.from({ length: webhooksOfEach }, () => ({ tenant, id: newId('wh') })),
  );
  const [of, ids] = [rows.map(({ tenant }) => tenant), rows.map(({ id }) => id)];
  const sealed = rows.map(({ tenant, id }) =>
    box.seal(Buffer.from(newSecret().keys), secretContext(tenant, id, 1)),
  );
  const each = 'select * from unnest($1::bigint[], $2::text[])';
  await db.query(
    `insert into webhook_endpoints (tenant_id, id, url) select tenant, id, $3 from (${each}) as t (tenant, id)`,
    [of, ids, url],
  );
  await db.query(
    `insert into webhook_cursors (tenant_id, webhook_id, seq) select tenant, id, 0 from (${each}) as t (tenant, id)`,
    [of, ids],
  );
  await db.query(
    `insert into webhook_secrets (tenant_id, webhook_id, number, sealed)
     select tenant, id, 1, sealed from unnest($1::bigint[], $2::text[], $3::bytea[]) as t (tenant, id, sealed)`,
    [of, ids, sealed],
  );
  return made;
}

/** What the tenants can do by `PATCH {"paused":false}` again and again: no wait of a retry stands. */
export async function retryAtOnce(
  deps: Pick<WebhookDeps, 'db'>,
  tenants: readonly TenantId[],
): Promise<void> {
  await deps.db.query(
    'update webhook_cursors set retry_at = null, paused_by = null, paused_at = null where tenant_id = any($1)',
    [tenants],
  );
}
