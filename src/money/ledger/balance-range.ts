/**
 * The range of a balance: 64 bits, as PostgreSQL's `bigint`.
 * A change that would leave it is refused as a whole.
 */
import type { BaseDeps } from '../../base/deps.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerMetrics } from './ledger-metrics.ts';

const MICROS_MAX = 2n ** 63n - 1n;
const MICROS_MIN = -(2n ** 63n);

/**
 * A charge or payment would take a balance out of its range. Nothing of it was stored, and its sender
 * may repeat it: it succeeds once an operator has adjusted the balance.
 */
export class BalanceOutOfRangeError extends Error {
  override readonly name = 'BalanceOutOfRangeError';
  readonly tenant: TenantId;

  constructor(tenant: TenantId) {
    super(`the balance of ${renderTenantId(tenant)} would leave the range of 64 bits`);
    this.tenant = tenant;
  }
}

/** Throws `BalanceOutOfRangeError`. `balance` is in micros. */
export function checkBalance(tenant: TenantId, balance: bigint): void {
  if (balance < MICROS_MIN || balance > MICROS_MAX) throw new BalanceOutOfRangeError(tenant);
}

/** Alarm the operators if that is what went wrong. Returns whether it is. */
export function alarmIfOutOfRange(
  { log, metrics }: Pick<BaseDeps, 'log'> & { readonly metrics: LedgerMetrics },
  error: unknown,
): boolean {
  if (!(error instanceof BalanceOutOfRangeError)) return false;
  metrics.balanceRefusals.inc();
  log.error(
    { tenant: renderTenantId(error.tenant) },
    'a change of a balance was refused, because the balance would leave the range of 64 bits: adjust it',
  );
  return true;
}
