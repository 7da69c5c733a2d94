/** What an operator does to a tenant: a command, which goes to the database itself. */
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { idOf } from '../../test/support/tenants.ts';
import type { Args } from '../operations.ts';
import type { Client } from './client.ts';

type Operated = 'auto_top_up.unfreeze' | 'grant.create' | 'credit.adjusted' | 'tenant.exempt';

/** Repeated until its outcome is known. */
export async function operate<O extends Operated>(
  client: Client,
  op: O,
  asked: Omit<Args<O>, 'tenant' | 'key' | 'service'>,
  command: (db: Pool, tenant: TenantId) => Promise<unknown>,
): Promise<void> {
  const args = { tenant: client.tenant.id, key: '', service: -1, ...asked } as unknown as Args<O>;
  await client.insist(0, () =>
    client.record(op, args, async () => {
      try {
        await command(client.stage.db, idOf(client.tenant));
        return { outcome: 'ok' } as const;
      } catch (error) {
        const isRefused = (error as Error).name === 'Failure';
        return isRefused ? ({ outcome: 'refused', status: 400 } as const) : ({ outcome: 'unknown' } as const);
      }
    }),
  );
}
