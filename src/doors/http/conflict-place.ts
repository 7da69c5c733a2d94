/** Cursors of lists of conflicts: the place where the next page begins. */
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { ConflictPlace } from '../../money/usage/conflict.ts';
import { noSuchPage } from './no-such-page.ts';
import { readOwnCursor, renderOwnCursor } from './own-cursor.ts';

export function renderConflictPlace(tenant: TenantId, { lastAt, id }: ConflictPlace): string {
  return renderOwnCursor(renderTenantId(tenant), [lastAt, id]);
}

/** As PostgreSQL writes times. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;

/** `undefined`: the first page. Fails with `invalid_request`. */
export function parseConflictPlace(cursor: string | undefined, tenant: TenantId): ConflictPlace | undefined {
  if (cursor === undefined) return undefined;
  const [lastAt = '', id = '', ...others] = readOwnCursor(cursor, renderTenantId(tenant));
  const isPlace = TIME.test(lastAt) && !Number.isNaN(Date.parse(lastAt));
  if (!isPlace || id === '' || others.length > 0) throw noSuchPage();
  return { lastAt, id };
}
