/** SQL of `login_attempts`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { deleteOver } from '../sessions/delete-over.sql.ts';
import { ATTEMPT_MINUTES, type Console, type LoginAttempt, type NewAttempt } from './login-attempt.ts';

export async function insertAttempt(
  db: Db,
  hash: Buffer,
  { console, next, email, tenant }: NewAttempt,
): Promise<void> {
  await db.query({
    name: 'insert-login-attempt',
    text: 'insert into login_attempts (hash, console, next, email, tenant_id) values ($1, $2, $3, $4, $5)',
    values: [hash, console, next, email ?? null, tenant ?? null],
  });
}

/** Use the attempt up, unless it is too old. Of several at the same time, one gets it. */
export async function takeAttempt(db: Db, hash: Buffer, console: Console): Promise<LoginAttempt | undefined> {
  const { rows } = await db.query<{
    next: string;
    email: string | null;
    tenant: TenantId | null;
    begunAt: Date;
  }>({
    name: 'take-login-attempt',
    text: `delete from login_attempts
            where hash = $1 and console = $2 and begun_at > now() - interval '${ATTEMPT_MINUTES} minutes'
           returning next, email, tenant_id as tenant, begun_at as "begunAt"`,
    values: [hash, console],
  });
  const [row] = rows;
  if (!row) return undefined;
  return { ...row, console, email: row.email ?? undefined, tenant: row.tenant ?? undefined };
}

/** Deletes pending log-ins of operators. */
export async function deleteOperatorAttempts(tx: Tx): Promise<void> {
  await tx.query({
    name: 'delete-operator-attempts',
    text: `delete from login_attempts where console = 'operators'`,
  });
}

/** Delete some attempts that are too old. Returns how many. */
export async function deleteOldAttempts(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'login_attempts', `begun_at <= now() - interval '${ATTEMPT_MINUTES} minutes'`, limit);
}
