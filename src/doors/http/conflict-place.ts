/** Cursors of lists of conflicts. The tenant is in the cursor, so that one of another tenant is refused. */
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { ConflictPlace } from '../../money/usage/conflict.ts';
import { noSuchPage } from './no-such-page.ts';

export function renderConflictPlace(tenant: TenantId, { lastAt, id }: ConflictPlace): string {
  return renderPageToken([renderTenantId(tenant), lastAt, id]);
}

/** As PostgreSQL writes times. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;

/** `undefined`: the first page. Fails with `invalid_request`. */
export function parseConflictPlace(cursor: string | undefined, tenant: TenantId): ConflictPlace | undefined {
  if (cursor === undefined) return undefined;
  const [of, lastAt = '', id = '', ...others] = readPageToken(cursor) ?? [];
  const isPlace = of === renderTenantId(tenant) && TIME.test(lastAt) && !Number.isNaN(Date.parse(lastAt));
  if (!isPlace || id === '' || others.length > 0) throw noSuchPage();
  return { lastAt, id };
}
