/** Usage: its reports, for applications that measure it themselves, and what was charged for it. */
import type { CallOptions } from './calls.ts';
import type { Listing } from './listing.ts';
import { type AnswerOf, type BodyOf, type PageRequest, type Rest, toQuery } from './rest.ts';

/** The usage of one participant in one interval: whole seconds, and bytes. */
export type UsageRecord = BodyOf<'POST /v1/usage'>['records'][number];

/** A usage record, and what it cost. */
export type ChargedRecord = AnswerOf<'GET /v1/usage/records'>['records'][number];

/** What one participant did in one room, from entering to leaving, and what it cost. */
export type Session = AnswerOf<'GET /v1/sessions'>['sessions'][number];

/** A session with its newest records. */
export type ShownSession = AnswerOf<'GET /v1/sessions/{id}'>;

/** What a room cost. */
export type RoomCost = AnswerOf<'GET /v1/rooms/{uid}/cost'>;

/** An id that was reported again with other values. */
export type UsageConflict = AnswerOf<'GET /v1/usage/conflicts'>['conflicts'][number];

/** A page of sums, and the sum of all pages. */
export type UsageSummary = AnswerOf<'GET /v1/usage/summary'>;

/** A charge, and how it came about. */
export type ExplainedUsage = AnswerOf<'GET /v1/usage/{id}/explain'>;

/** What became of an id. */
export type LookedUpRecord = AnswerOf<'POST /v1/usage/lookup'>['records'][number];

/** Which usage records to list. */
export interface ListUsageRecordsRequest extends PageRequest {
  /** Only this room; empty: only records without one. */
  readonly room?: string | undefined;
  /** Only this participant. */
  readonly participant?: string | undefined;
  /** Only this role. */
  readonly role?: ChargedRecord['role'] | undefined;
  /** Only this tier. */
  readonly tier?: ChargedRecord['tier'] | undefined;
  /** Only what was charged at this time or later. */
  readonly from?: Date | undefined;
  /** Only what was charged before this time. */
  readonly to?: Date | undefined;
}

/** Which sessions to list. */
export interface ListSessionsRequest extends PageRequest {
  /** Only rooms of this name. */
  readonly room?: string | undefined;
  /** Only this participant, by the username. */
  readonly participant?: string | undefined;
  /** Only those that this API key or device credential admitted, by its id. */
  readonly key?: string | undefined;
  /** Only those with this label of the mint. */
  readonly customer?: string | undefined;
  /** Only sessions that began at this time or later. */
  readonly from?: Date | undefined;
  /** Only sessions that began before this time. */
  readonly to?: Date | undefined;
}

/** Which usage to sum up. */
export interface SummarizeUsageRequest {
  /**
   * A row for each combination of these. One of `hour`, `day` and `month` at most; none: one row. `participant`, `key` and
   * `customer` are sums of sessions: one of them, alone or with `day` or `month`.
   */
  readonly groupBy?:
    | readonly ('hour' | 'day' | 'month' | 'room' | 'role' | 'tier' | 'participant' | 'key' | 'customer')[]
    | undefined;
  /**
   * Start of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of sessions, a whole day in
   * UTC. Default: 30 days before `to`; the start of its month.
   */
  readonly from?: Date | undefined;
  /**
   * End of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of sessions, a whole day in
   * UTC. Default: the end of this hour; of this month.
   */
  readonly to?: Date | undefined;
  /** Only this room; empty: only records without one. */
  readonly room?: string | undefined;
  /** How many rows at once: 1 to 1000. Default 100. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. Give `from` and `to` of that page too, so that the period is the same. */
  readonly cursor?: string | undefined;
}

/** Reports of usage, and what was charged: `boxoffice.usage`. `report` and `lookUp` take a relay key. */
export class Usage {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Charge usage: at most 5000 records, all or none. It takes a relay key. The request is retried,
   * and may be repeated: an id is never charged twice.
   */
  async report(records: readonly UsageRecord[], options?: CallOptions): Promise<AnswerOf<'POST /v1/usage'>> {
    return await this.#rest.call('POST /v1/usage', { body: { records: [...records] } }, options);
  }

  /** Which ids were charged, in their order: at most 5000. It takes a relay key, and changes nothing. */
  async lookUp(ids: readonly string[], options?: CallOptions): Promise<LookedUpRecord[]> {
    const answer = await this.#rest.call('POST /v1/usage/lookup', { body: { ids: [...ids] } }, options);
    return answer.records;
  }

  /** Usage records as they were charged, newest first. */
  records(request: ListUsageRecordsRequest = {}, options?: CallOptions): Listing<ChargedRecord> {
    return this.#rest.list('GET /v1/usage/records', (page) => page.records, { ...request }, options);
  }

  /** Sessions of participants, those that began last first. */
  sessions(request: ListSessionsRequest = {}, options?: CallOptions): Listing<Session> {
    return this.#rest.list('GET /v1/sessions', (page) => page.sessions, { ...request }, options);
  }

  /** One session, with its newest records. Fails with `NotFound` if there is none. */
  async session(id: string, options?: CallOptions): Promise<ShownSession> {
    return await this.#rest.call('GET /v1/sessions/{id}', { path: { id } }, options);
  }

  /** What a room cost, by its uid. Fails with `NotFound` if there is none. */
  async roomCost(uid: string, options?: CallOptions): Promise<RoomCost> {
    return await this.#rest.call('GET /v1/rooms/{uid}/cost', { path: { uid } }, options);
  }

  /** Ids that were reported again with other values, newest report first. The other values are not charged. */
  conflicts(request: PageRequest = {}, options?: CallOptions): Listing<UsageConflict> {
    return this.#rest.list('GET /v1/usage/conflicts', (page) => page.conflicts, { ...request }, options);
  }

  /**
   * Sums of usage over a period of at most 366 days. By hour, day or month, rows are in the order of time; otherwise the most
   * expensive come first. `sum` is that of all rows, and of what is `unassigned` to sessions, on every page. While there is a
   * `nextCursor`, there are more rows.
   */
  async summary(request: SummarizeUsageRequest = {}, options?: CallOptions): Promise<UsageSummary> {
    const { limit, cursor, ...filter } = request;
    const query = toQuery({ ...filter, limit: limit || undefined, cursor: cursor || undefined });
    return await this.#rest.call('GET /v1/usage/summary', { query }, options);
  }

  /** How the charge of a record came about, step by step. Fails with `NotFound` if it was not charged. */
  async explain(id: string, options?: CallOptions): Promise<ExplainedUsage> {
    return await this.#rest.call('GET /v1/usage/{id}/explain', { path: { id } }, options);
  }
}
