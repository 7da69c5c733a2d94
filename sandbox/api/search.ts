/**
 * Stripe's search queries, limited to clauses joined with AND:
 * `metadata['order']:'6735' AND status:'succeeded' AND created>1700000000`.
 */
import { invalidRequest } from '../http/errors.ts';
import type { FormObject } from '../http/form.ts';
import { integer, optional, readParams, required, text } from '../http/params.ts';

interface Searched {
  readonly id: string;
  readonly metadata: Record<string, string>;
}

export interface SearchSource<T extends Searched> {
  readonly url: string;
  /** Every row, oldest first. */
  readonly rows: readonly T[];
  readonly fields: (row: T) => Record<string, string>;
  readonly render: (row: T) => object;
}

interface Clause {
  readonly negated: boolean;
  readonly field: string;
  readonly inMetadata: boolean;
  readonly operator: string;
  readonly value: string;
}

export function searchPage<T extends Searched>(form: FormObject, source: SearchSource<T>) {
  const params = readParams(form, {
    query: required(text()),
    limit: optional(integer({ min: 1, max: 100 })),
    page: optional(text()),
  });
  const clauses = parseQuery(params.query);
  const found = source.rows.filter((row) =>
    clauses.every((clause) => holds(clause, row, source.fields(row))),
  );
  found.reverse();
  const start = params.page === undefined ? 0 : found.findIndex(({ id }) => id === params.page) + 1;
  const selected = found.slice(start, start + (params.limit ?? 10));
  const hasMore = start + selected.length < found.length;
  return {
    object: 'search_result',
    data: selected.map(source.render),
    has_more: hasMore,
    next_page: hasMore ? (selected.at(-1)?.id ?? null) : null,
    url: source.url,
  };
}

const CLAUSE =
  /^(-?)(?:metadata\[(["'])(.{1,40}?)\2\]|([a-z_]+))(:|>=|<=|>|<)(?:(["'])((?:\\.|[^\\])*?)\6|(\d+))$/;

function parseQuery(query: string): Clause[] {
  return query.split(/\s+AND\s+/i).map((part) => {
    const match = CLAUSE.exec(part.trim());
    if (match === null) {
      throw invalidRequest(`The sandbox cannot read this part of the search query: ${part.slice(0, 100)}`, {
        param: 'query',
      });
    }
    const [, minus, , key, field, operator, , quoted, number] = match;
    return {
      negated: minus === '-',
      field: key ?? field ?? '',
      inMetadata: key !== undefined,
      operator: operator ?? ':',
      value: quoted?.replace(/\\(.)/g, '$1') ?? number ?? '',
    };
  });
}

function holds(clause: Clause, row: Searched, fields: Record<string, string>): boolean {
  const actual = clause.inMetadata ? row.metadata[clause.field] : fields[clause.field];
  if (actual === undefined && !clause.inMetadata) {
    throw invalidRequest(`The field \`${clause.field}\` cannot be searched.`, { param: 'query' });
  }
  return compare(actual, clause) !== clause.negated;
}

function compare(actual: string | undefined, { operator, value }: Clause): boolean {
  if (actual === undefined) return false;
  switch (operator) {
    case '>':
      return Number(actual) > Number(value);
    case '>=':
      return Number(actual) >= Number(value);
    case '<':
      return Number(actual) < Number(value);
    case '<=':
      return Number(actual) <= Number(value);
    default:
      return actual === value;
  }
}
