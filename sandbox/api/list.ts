/** Stripe's list envelope: newest first, paged by identifiers. */
import { resourceMissing } from '../http/errors.ts';
import { type FormObject, isFormObject } from '../http/form.ts';
import {
  type Field,
  integer,
  object,
  optional,
  type Params,
  type Reader,
  readParams,
  type Schema,
  text,
} from '../http/params.ts';

interface Listed {
  readonly id: string;
  readonly created: number;
}

const range: Reader<Range> = (value, path) => {
  if (!isFormObject(value)) {
    const at = integer()(value, path);
    return { gte: at, lte: at };
  }
  return object({
    gt: optional(integer()),
    gte: optional(integer()),
    lt: optional(integer()),
    lte: optional(integer()),
  })(value, path);
};

interface Range {
  readonly gt?: number | undefined;
  readonly gte?: number | undefined;
  readonly lt?: number | undefined;
  readonly lte?: number | undefined;
}

const PAGE = {
  limit: optional(integer({ min: 1, max: 100 })),
  starting_after: optional(text()),
  ending_before: optional(text()),
};

/** A time, or a range of times. */
export const RANGE: Field<Range | undefined> = optional(range);

/** For lists that can be filtered by time of creation. */
export const CREATED = { created: RANGE };

export interface ListSource<S extends Schema, T extends Listed> {
  /** The address of the list. */
  readonly url: string;
  /** Every row, oldest first. */
  readonly rows: readonly T[];
  /** The filters of this list, besides the paging ones. */
  readonly filters: S;
  readonly keep: (row: T, filters: Params<S>) => boolean;
  readonly render: (row: T) => object;
}

export function listPage<S extends Schema, T extends Listed>(form: FormObject, source: ListSource<S, T>) {
  const params = readParams(form, { ...PAGE, ...source.filters });
  const page = params as Params<typeof PAGE> & { created?: Range };
  const rows = source.rows
    .filter((row) => inRange(row.created, page.created) && source.keep(row, params as unknown as Params<S>))
    .reverse();
  const limit = page.limit ?? 10;
  const { selected, hasMore } = cut(rows, page.starting_after, page.ending_before, limit);
  return { object: 'list', data: selected.map(source.render), has_more: hasMore, url: source.url };
}

/** A complete list inside another object. */
export function wholeList(url: string, data: object[]) {
  return { object: 'list', data, has_more: false, url };
}

function cut<T extends Listed>(
  rows: T[],
  after: string | undefined,
  before: string | undefined,
  limit: number,
): { selected: T[]; hasMore: boolean } {
  if (before !== undefined) {
    const end = position(rows, before, 'ending_before');
    const start = Math.max(0, end - limit);
    return { selected: rows.slice(start, end), hasMore: start > 0 };
  }
  const start = after === undefined ? 0 : position(rows, after, 'starting_after') + 1;
  return { selected: rows.slice(start, start + limit), hasMore: start + limit < rows.length };
}

function position(rows: Listed[], id: string, param: string): number {
  const index = rows.findIndex((row) => row.id === id);
  if (index === -1) throw resourceMissing('object in this list', id, param);
  return index;
}

export function inRange(time: number, wanted: Range | undefined): boolean {
  if (wanted === undefined) return true;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = wanted;
  return time > gt && time >= gte && time < lt && time <= lte;
}
