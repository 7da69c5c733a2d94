/** Fields of forms and queries of operators. */
import { REASON_MAX } from '../../../base/audit/reason.ts';
import { invalidField, notFound } from '../../../base/failure.ts';
import { parseTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { parseSignedDollars } from '../../../money/amount.ts';
import { textOf } from '../../consoles/query.ts';
import type { Form } from '../../http/form.ts';

/** What is wrong with a reason that `parseReason()` does not take. */
export const REASON_FAULT = `Give a reason of 1 to ${REASON_MAX} characters.`;

/** The longest text that is searched for, in characters. */
export const SEARCH_MAX = 300;

/** The tenant that a path names. Fails with `not_found`. */
export function parseTenantParam(text: string | undefined): TenantId {
  const id = parseTenantId(text ?? '');
  if (id === undefined) throw notFound('tenant');
  return id;
}

/** The tenant of a filter; `undefined`: all tenants. Fails with `invalid_request`. */
export function parseTenantFilter(query: Form): TenantId | undefined {
  const searched = textOf(query, 'tenant', SEARCH_MAX);
  if (searched === undefined) return undefined;
  const id = parseTenantId(searched);
  if (id === undefined) throw invalidField('tenant', 'must be t_ and 16 hex digits');
  return id;
}

/** What an operator gives or takes, in micros, as `parseSignedDollars()` reads it. People may write the `$` of `-$3`. */
export function parseGivenDollars(text: string | undefined): bigint | undefined {
  return parseSignedDollars((text ?? '').trim().replace(/^(-?)\$/, '$1'));
}
