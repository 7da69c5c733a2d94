/**
 * A statement as JSON: what answers show, what is signed, and what is read back to verify it.
 *
 * A statement has exactly one text, so it always has the same digest.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../base/lib/canonical-json.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { renderAmount } from '../amount.ts';
import { UTC } from '../calendar/time-zone.ts';
import { renderMeasures } from '../usage/usage-summary.ts';
import { renderDetails } from './billing-details.ts';
import {
  hasGrants,
  type Movement,
  type Movements,
  type Statement,
  type StatementUsage,
  spentOfGrants,
} from './statement.ts';

/** A later form of the document has another number, so that this one stays readable. */
const VERSION = 1;

/** Members that are `undefined` are left out of the JSON. */
export function renderStatement(statement: Statement) {
  const { issuer, tenant, month, zone, from, to, soFar, opening, usage, closing } = statement;
  return {
    version: VERSION,
    iss: issuer,
    issuer_details: renderDetails(statement.issuerDetails),
    tenant: {
      id: renderTenantId(tenant.id),
      name: tenant.name,
      details: renderDetails(tenant.details),
    },
    month,
    from: from.toISOString(),
    to: to.toISOString(),
    time_zone: zone === UTC ? undefined : zone,
    so_far: soFar || undefined,
    currency: 'usd',
    opening: renderAmount(opening),
    payments: renderMovements(statement.payments),
    reversals: renderMovements(statement.reversals),
    adjustments: renderMovements(statement.adjustments),
    grants: hasGrants(statement) ? renderGrants(statement) : undefined,
    usage: renderUsage(usage),
    closing: renderAmount(closing),
  };
}

function renderMovements({ entries, others, sum }: Movements) {
  return {
    entries: entries.map(renderMovement),
    others: others && { count: others.count, sum: renderAmount(others.sum) },
    sum: renderAmount(sum),
  };
}

function renderGrants(statement: Statement) {
  const { grants, granted } = statement;
  return {
    opening: renderAmount(granted.opening),
    ...renderMovements(grants),
    spent: renderAmount(spentOfGrants(statement)),
    closing: renderAmount(granted.closing),
  };
}

function renderMovement({ at, kind, amount, reference, detail, payment }: Movement) {
  return {
    at: at.toISOString(),
    kind,
    amount: renderAmount(amount),
    reference,
    detail,
    payment,
  };
}

function renderUsage({ rooms, others, sum }: StatementUsage) {
  return {
    rooms: rooms.map((room) => ({ room: room.room, ...renderMeasures(room) })),
    others: others && { rooms: others.rooms, ...renderMeasures(others) },
    sum: renderMeasures(sum),
  };
}

/** The text that is signed. */
export function textOf(statement: Statement): string {
  return canonicalJson(renderStatement(statement));
}

/** SHA-256 of the text, in hex: it ties a printed statement to the signed one. */
export function digestOf(statement: Statement): string {
  return hash('sha256', textOf(statement), 'hex');
}
