/** The views of a tenant as the service answers them, page by page. */
import { createHash } from 'node:crypto';
import type { SentRecord } from './journal.ts';

export interface Reads {
  /** `t_...` of each tenant that can still be read. */
  readonly tenants: readonly string[];
  /** Files that the services have logged to. */
  readonly logs?: readonly string[];
  /** The body of a GET of the REST interface, with a backend key of the tenant. Fails if it is no success. */
  get(tenant: string, path: string): Promise<unknown>;
  /** The same as a text, in a form that `Accept` names. */
  text(tenant: string, path: string, accept: string): Promise<string>;
  /** A page or a file of the console, in a session of the tenant. */
  console(tenant: string, path: string): Promise<string>;
}

interface Amount {
  readonly micros: number;
}

/** An entry of `GET /v1/ledger`. */
export interface LedgerEntry {
  readonly kind: string;
  readonly amount: Amount;
  readonly capped: boolean;
  readonly reference: string;
  readonly detail?: string;
  readonly at: string;
  /** For usage, the id of the record. */
  readonly id?: string;
  readonly payment?: string;
  readonly posting_seq: number;
  readonly balance_after: Amount;
}

/** An entry of `GET /v1/usage/records`. */
export interface ListedRecord extends SentRecord {
  readonly total: Amount;
  readonly capped: boolean;
  readonly unbilled: boolean;
  readonly at: string;
}

/** Sums of usage, of a group or of all. */
export interface Measures {
  readonly records: number;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
  readonly total: Amount;
  readonly unbilled: Amount;
}

export interface Summary {
  readonly rows: readonly (Measures & Readonly<Record<string, unknown>>)[];
  readonly sum: Measures;
  readonly unassigned?: Measures;
}

export interface ListedEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly schema_version: number;
  readonly timestamp: string;
  readonly data: unknown;
}

const PAGE = 1_000;

/** All items of a list, in the order of its pages. */
async function readPages<T>(reads: Reads, tenant: string, path: string, member: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = `${path.includes('?') ? '&' : '?'}limit=${PAGE}`;
    const place = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = (await reads.get(tenant, `${path}${query}${place}`)) as Record<string, unknown>;
    items.push(...(page[member] as T[]));
    cursor = page.next_cursor as string | undefined;
  }
  return items;
}

/** Newest first. */
export const readLedger = (reads: Reads, tenant: string) =>
  readPages<LedgerEntry>(reads, tenant, '/v1/ledger', 'entries');

/** Newest first. */
export const readRecords = (reads: Reads, tenant: string) =>
  readPages<ListedRecord>(reads, tenant, '/v1/usage/records', 'records');

/** Days as `2026-11-01`. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** The rows of all pages. */
export async function readSummary(
  reads: Reads,
  tenant: string,
  groupBy: string,
  { from, to }: Period,
): Promise<Summary> {
  const path = `/v1/usage/summary?group_by=${groupBy}&from=${from}&to=${to}`;
  const rows = await readPages<Summary['rows'][number]>(reads, tenant, path, 'rows');
  const { sum, unassigned } = (await reads.get(tenant, path)) as Summary;
  return { rows, sum, ...(unassigned && { unassigned }) };
}

/** In order, from the oldest that is kept. */
export async function readEvents(reads: Reads, tenant: string): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  for (let after: number | undefined, more = true; more; ) {
    const path = `/v1/events?limit=${EVENTS}${after === undefined ? '' : `&after=${after}`}`;
    const page = (await reads.get(tenant, path)) as EventPage;
    events.push(...page.events);
    ({ after, more } = page);
  }
  return events;
}

/** With the digest of what it tells. One from which a person was erased may have told anything before, so it has the one that was noted. */
export function describeEvent(event: ListedEvent | undefined, noted: string | undefined): string {
  if (!event) return 'not listed';
  const { id, type, schema_version, timestamp, data } = event;
  const told = JSON.stringify([schema_version, timestamp, data]);
  const isErased = told.includes('"(erased)"');
  return `${id} ${type} ${isErased ? noted : createHash('sha256').update(told).digest('base64url')}`;
}

const EVENTS = 1_000;

interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly after: number;
  readonly more: boolean;
}

/** Lines of CSV, each by the names of its columns. */
export function readCsv(text: string): Readonly<Record<string, string>>[] {
  const [names = [], ...lines] = cellsOf(text);
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}

/** RFC 4180. */
function cellsOf(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (end === '' && quoted === undefined && plain === '' && cells.length === 0) break;
    cells.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}
