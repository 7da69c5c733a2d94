/** Cursors of lists of lines of the ledger: the place where the next page begins. */
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerPlace } from '../../money/ledger/ledger-line.ts';
import { noSuchPage } from './no-such-page.ts';

const SEQ_MAX = 2n ** 63n - 1n;

/** The tenant is in the cursor, so that one of another tenant is refused. */
export function renderPlace(tenant: TenantId, { seq, line }: LedgerPlace): string {
  return renderPageToken([renderTenantId(tenant), String(seq), String(line)]);
}

/** `undefined`: the first page. Fails with `invalid_request`. */
export function parsePlace(cursor: string | undefined, tenant: TenantId): LedgerPlace | undefined {
  if (cursor === undefined) return undefined;
  const [of, seq = '', line = '', ...others] = readPageToken(cursor) ?? [];
  const isPlace = of === renderTenantId(tenant) && /^\d{1,19}$/.test(seq) && /^\d{1,5}$/.test(line);
  if (!isPlace || others.length > 0 || BigInt(seq) > SEQ_MAX) throw noSuchPage();
  return { seq: BigInt(seq), line: Number(line) };
}
