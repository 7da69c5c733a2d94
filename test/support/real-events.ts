/**
 * Checks events that were really appended or sent against the schemas that are published, without members that these do
 * not name.
 */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import type { LoggedEvent } from '../../src/events/event.ts';
import { PUBLIC_EVENT_TYPES } from '../../src/outward/events/event-catalogue.ts';
import { renderPublicEvent } from '../../src/outward/events/public-event.ts';
import { DESCRIBED_EVENTS } from '../../src/outward/events/schemas/event-schemas.ts';
import { closed, openApiValidator } from './openapi.ts';

/** So many are looked at in the log of a test file. */
const CHECKED_MAX = 2_000;

const ajv = openApiValidator();
const schemas = new Map(DESCRIBED_EVENTS.map(({ type, schema }) => [type, closed(schema) as object]));
const validators = new Map<string, ValidateFunction>();

/** How an event differs from the schema of its type. */
export function faultsOfEvent(event: { readonly type: string }): string[] {
  const { type } = event;
  const schema = schemas.get(type);
  if (!schema) return [`${type} is no type of the catalogue`];
  const validate = validators.get(type) ?? ajv.compile(schema);
  validators.set(type, validate);
  validate(event);
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${type}${instancePath} ${message} ${params.additionalProperty ?? ''}`.trim(),
  );
}

/** Throws for one that differs. */
export function checkEvent(event: { readonly type: string }): void {
  const faults = faultsOfEvent(event);
  if (faults.length > 0) throw new Error(`an event is not as its schema: ${faults.join('; ')}`);
}

/** Throws if a public event in the log of any tenant differs from its schema. */
export async function checkLog(db: Pool): Promise<void> {
  const { rows: tables } = await db.query(`select where to_regclass('unnumbered_events') is not null`);
  if (tables.length === 0) return;
  const newest = 'where type = any($1) order by at desc limit $2';
  for (const from of [
    'seq, at, type, subject from events',
    '1 as seq, at, type, subject from unnumbered_events',
  ]) {
    const { rows } = await db.query<LoggedEvent & { tenant: TenantId }>(
      `select tenant_id as tenant, room_uid as "roomUid", ${from} ${newest}`,
      [PUBLIC_EVENT_TYPES, CHECKED_MAX],
    );
    for (const { tenant, ...event } of rows) checkEvent(JSON.parse(renderPublicEvent(tenant, event)));
  }
}
