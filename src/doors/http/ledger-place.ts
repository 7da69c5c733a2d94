/** Cursors of lists of lines of the ledger: the place where the next page begins. */
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerPlace } from '../../money/ledger/ledger-line.ts';
import { noSuchPage } from './no-such-page.ts';
import { readOwnCursor, renderOwnCursor } from './own-cursor.ts';

const SEQ_MAX = 2n ** 63n - 1n;

export function renderPlace(tenant: TenantId, { seq, line }: LedgerPlace): string {
  return renderOwnCursor(renderTenantId(tenant), [String(seq), String(line)]);
}

/** `undefined`: the first page. Fails with `invalid_request`. */
export function parsePlace(cursor: string | undefined, tenant: TenantId): LedgerPlace | undefined {
  if (cursor === undefined) return undefined;
  const [seq = '', line = '', ...others] = readOwnCursor(cursor, renderTenantId(tenant));
  const isPlace = /^\d{1,19}$/.test(seq) && /^\d{1,5}$/.test(line);
  if (!isPlace || others.length > 0 || BigInt(seq) > SEQ_MAX) throw noSuchPage();
  return { seq: BigInt(seq), line: Number(line) };
}
