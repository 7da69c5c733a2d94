/** Fields of forms and queries of operators. */
import { invalidField, notFound } from '../../../base/failure.ts';
import { parseTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { microsOfDollars } from '../../../money/amount.ts';
import type { Form } from '../../http/form.ts';
import { parseName } from '../../pages/fields.ts';
import { textOf } from '../../pages/query.ts';

/** Of a text that is searched for. */
export const SEARCH_MAX = 300;
/** As at the command line. */
export const REASON_MAX = 500;

/** `undefined`: there is none, or it is too long. */
export function parseReason(text: string | undefined): string | undefined {
  return parseName(text ?? '', REASON_MAX);
}

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

/** What `parseSignedDollars` takes, in words. */
export const WRONG_DOLLARS =
  'Give dollars other than 0, such as 12.50 or -3, with at most 9 digits before the point and 6 after it.';

/** Decimal dollars, such as `12.50` or `-3`, in micros. `undefined`: it is no such amount, too large, or zero. */
export function parseSignedDollars(text: string | undefined): bigint | undefined {
  const [, sign, size] = /^(-?)\$?([0-9]{1,9}(?:\.[0-9]{1,6})?)$/.exec((text ?? '').trim()) ?? [];
  const micros = size === undefined ? 0n : microsOfDollars(size);
  if (micros === 0n) return undefined;
  return sign ? -micros : micros;
}
