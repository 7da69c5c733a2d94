/** Reads the text of a statement, years later. */
import { parseExactJson } from '../../base/lib/canonical-json.ts';
import { parseTenantId } from '../../base/tenants/tenant.ts';
import { type TimeZone, UTC } from '../calendar/time-zone.ts';
import { parseMonth } from '../month.ts';
import type { Measures } from '../usage/usage-summary.ts';
import { type BillingDetails, NO_DETAILS } from './billing-details.ts';
import { findFault } from './check-statement.ts';
import {
  MOVEMENT_KINDS,
  type Movement,
  type MovementGroup,
  type Movements,
  type Statement,
  type StatementUsage,
} from './statement.ts';
import { textOf } from './statement-document.ts';

/** The text is no statement, or one that does not add up. The message says why. */
export class NotAStatementError extends Error {
  override readonly name = 'NotAStatementError';
}

/** Throws `NotAStatementError` unless `textOf()` may have made the text of a statement that adds up. */
export function readStatement(text: string): Statement {
  const statement = toStatement(parse(text));
  // So nothing is left out, added or written otherwise, and the amounts for people are those for programs.
  if (textOf(statement) !== text) throw new NotAStatementError('it is not written as statements are');
  const fault = findFault(statement);
  if (fault) throw new NotAStatementError(`it does not add up: ${fault}`);
  return statement;
}

function parse(json: string): unknown {
  try {
    return parseExactJson(json);
  } catch (cause) {
    throw new NotAStatementError('it is not JSON', { cause });
  }
}

function toStatement(value: unknown): Statement {
  const document = new Part(value, '');
  if (document.integer('version') !== 1n) throw new NotAStatementError('version must be 1');
  const tenant = document.part('tenant');
  const granted = document.optional('grants')?.part('grants');
  const movements = (group: MovementGroup) => readMovements(document.part(group), group);
  return {
    issuer: document.text('iss'),
    issuerDetails: readDetails(document, 'issuer_details'),
    tenant: {
      id: tenant.parsed('id', parseTenantId),
      name: tenant.text('name'),
      details: readDetails(tenant, 'details'),
    },
    month: document.parsed('month', parseMonth),
    zone: (document.optional('time_zone')?.text('time_zone') as TimeZone | undefined) ?? UTC,
    from: document.parsed('from', parseTime),
    to: document.parsed('to', parseTime),
    soFar: false,
    opening: document.amount('opening'),
    payments: movements('payments'),
    reversals: movements('reversals'),
    adjustments: movements('adjustments'),
    grants: granted ? movements('grants') : NO_MOVEMENTS,
    granted: { opening: granted?.amount('opening') ?? 0n, closing: granted?.amount('closing') ?? 0n },
    usage: readUsage(document.part('usage')),
    closing: document.amount('closing'),
  };
}

function readDetails(of: Part, name: string): BillingDetails {
  const part = of.optional(name)?.part(name);
  if (!part) return NO_DETAILS;
  return {
    name: part.optional('name')?.text('name'),
    address: part.optional('address')?.texts('address') ?? [],
    taxId: part.optional('tax_id')?.text('tax_id'),
  };
}

const NO_MOVEMENTS: Movements = { entries: [], others: undefined, sum: 0n };

function readMovements(part: Part, group: MovementGroup): Movements {
  const others = part.optional('others')?.part('others');
  return {
    entries: part.list('entries').map((entry) => readMovement(entry, group)),
    others: others && { count: others.integer('count'), sum: others.amount('sum') },
    sum: part.amount('sum'),
  };
}

function readMovement(entry: Part, group: MovementGroup): Movement {
  const kinds: readonly Movement['kind'][] = MOVEMENT_KINDS[group];
  return {
    at: entry.parsed('at', parseTime),
    kind: entry.parsed('kind', (text) => kinds.find((kind) => kind === text)),
    amount: entry.amount('amount'),
    reference: entry.optional('reference')?.text('reference'),
    detail: entry.optional('detail')?.text('detail'),
    payment: entry.optional('payment')?.text('payment'),
  };
}

function parseTime(text: string): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function readUsage(part: Part): StatementUsage {
  const others = part.optional('others')?.part('others');
  return {
    rooms: part.list('rooms').map((room) => ({ room: room.text('room'), ...readMeasures(room) })),
    others: others && { rooms: others.integer('rooms'), ...readMeasures(others) },
    sum: readMeasures(part.part('sum')),
  };
}

function readMeasures(part: Part): Measures {
  return {
    records: part.integer('records'),
    seconds: part.integer('seconds'),
    egressBytes: part.integer('egress_bytes'),
    ingressBytes: part.integer('ingress_bytes'),
    amount: part.amount('total'),
    unbilled: part.amount('unbilled'),
  };
}

/** An object of the document. Whatever is not as it must be throws with its path. */
class Part {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null) {
      throw new NotAStatementError(`${path || 'it'} must be an object`);
    }
    this.#members = value as Readonly<Record<string, unknown>>;
    this.#path = path;
  }

  optional(name: string): this | undefined {
    return Object.hasOwn(this.#members, name) ? this : undefined;
  }

  part(name: string): Part {
    return new Part(this.#get(name), this.#pathOf(name));
  }

  list(name: string): Part[] {
    return this.#listOf(name).map((each, at) => new Part(each, `${this.#pathOf(name)}/${at}`));
  }

  texts(name: string): string[] {
    return this.#listOf(name).map((each, at) => {
      if (typeof each !== 'string') throw this.#refuse(`${name}/${at}`, 'a text');
      return each;
    });
  }

  text(name: string): string {
    const value = this.#get(name);
    if (typeof value !== 'string') throw this.#refuse(name, 'a text');
    return value;
  }

  parsed<T>(name: string, parseText: (text: string) => T | undefined): T {
    const value = parseText(this.text(name));
    if (value === undefined) throw this.#refuse(name, 'of the right form');
    return value;
  }

  integer(name: string): bigint {
    const value = this.#get(name);
    if (typeof value !== 'bigint') throw this.#refuse(name, 'an integer');
    return value;
  }

  amount(name: string): bigint {
    return this.part(name).integer('micros');
  }

  #listOf(name: string): unknown[] {
    const value = this.#get(name);
    if (!Array.isArray(value)) throw this.#refuse(name, 'a list');
    return value;
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}/${name}`;
  }

  #refuse(name: string, what: string): NotAStatementError {
    return new NotAStatementError(`${this.#pathOf(name)} must be ${what}`);
  }
}
