/** The types of the REST interface out of its description, under the names that the SDKs for Go and Rust give them. */
import { AmountSchema } from '../../src/money/amount-schema.ts';
import { answerOf, type Description, type Operation, type Schema } from '../describe-rest.ts';
import { ANSWERS, DOCS, FIRST, RENAMED, REQUESTS, UNSIGNED, WORDS, WORDS_OF_MEMBERS } from './names.ts';

export type Kind =
  | { readonly is: 'text' | 'event type' | 'secret' | 'time' | 'boolean' | 'number' | 'micros' | 'object' }
  /** `huge` has no upper limit. */
  | { readonly is: 'integer'; readonly size: 'usual' | '64 bits' | 'huge'; readonly isUnsigned: boolean }
  /** A request has a length of time in whole seconds, and what chooses a page of a list. */
  | { readonly is: 'seconds' | 'page size' | 'page token' }
  | { readonly is: 'words' | 'struct'; readonly name: string }
  | { readonly is: 'list'; readonly of: Kind };

export interface Field {
  /** In JSON of the SDK. Requests whose members become a query may have other names there. */
  readonly name: string;
  readonly doc: string;
  readonly kind: Kind;
  readonly isOptional: boolean;
  readonly from: 'answer' | 'path' | 'query' | 'body';
  readonly minimum: number;
}

export interface Struct {
  readonly name: string;
  readonly doc: string;
  readonly fields: readonly Field[];
  /** The method of HTTP of a request; `undefined`: an answer. */
  readonly request: string | undefined;
}

export interface Model {
  readonly structs: readonly Struct[];
  /** Types of words that answers have. */
  readonly answeredWords: ReadonlySet<string>;
}

/** Fails if a type of the description has no name, or a name no type. */
export function makeModel(description: Description): Model {
  return new Maker(description).make();
}

interface Origin {
  readonly from: Field['from'];
  readonly owner: string;
  /** The parameters are those of a list that is read page by page. */
  readonly isPaged?: boolean;
}

/** Lengths of time. Other members with such names are measurements. */
const DURATIONS = ['overlap_seconds', 'wait_seconds'];
const SECRETS = ['api_key', 'secret'];
const EVENT_TYPES = ['type', 'types'];

class Maker {
  readonly #operations: ReadonlyMap<string, Operation>;
  /** By shape. */
  readonly #names = new Map([[shapeOf(AmountSchema as Schema), 'Amount']]);
  readonly #usedWords = new Set<string>();
  readonly #answeredWords = new Set<string>();

  constructor({ paths }: Description) {
    this.#operations = new Map(
      Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
      ),
    );
  }

  make(): Model {
    for (const [name, { at }] of Object.entries(ANSWERS))
      for (const place of [at].flat()) this.#call(this.#answerAt(place), name);
    for (const [name, { at }] of Object.entries(REQUESTS))
      if (parse(at).way.length > 0) this.#call(this.#bodyAt(at), name);
    const structs = [
      ...Object.keys(ANSWERS).map((name) => this.#answer(name)),
      ...Object.keys(REQUESTS).map((name) => this.#request(name)),
    ];
    const unused = Object.keys(WORDS).filter((name) => !this.#usedWords.has(name));
    if (unused.length > 0) throw new Error(`the description has no words of ${unused.join(', ')}`);
    return { structs, answeredWords: this.#answeredWords };
  }

  #call(schema: Schema, name: string): void {
    const shape = shapeOf(schema);
    const other = this.#names.get(shape) ?? name;
    if (other !== name) throw new Error(`${name} and ${other} are the same type`);
    this.#names.set(shape, name);
  }

  #operation(place: string): Operation {
    const operation = this.#operations.get(parse(place).operation);
    if (!operation) throw new Error(`there is no operation ${place}`);
    return operation;
  }

  #answerAt(place: string): Schema {
    return memberAt(answerOf(this.#operation(place)), place);
  }

  #bodyAt(place: string): Schema {
    return memberAt(this.#operation(place).requestBody?.content['application/json']?.schema, place);
  }

  #answer(name: string): Struct {
    const { at, doc, partly = '' } = ANSWERS[name]!;
    const schemas = [at].flat().map((place) => this.#answerAt(place));
    const fields = this.#members(schemas, { from: 'answer', owner: name });
    const everywhere = (field: Field) => schemas.every(({ properties = {} }) => field.name in properties);
    return {
      name,
      doc: doc ?? schemas[0]!.description!,
      fields: fields.map((field) =>
        partly && !everywhere(field) ? { ...field, doc: `${field.doc}. ${partly}` } : field,
      ),
      request: undefined,
    };
  }

  #request(owner: string): Struct {
    const { at, doc } = REQUESTS[owner]!;
    const operation = this.#operation(at);
    const isPart = parse(at).way.length > 0;
    const answer = answerOf(operation)?.properties ?? {};
    // Another answer with a cursor has sums beside its list.
    const isPaged = 'next_cursor' in answer && Object.keys(answer).length === 2;
    const parameters = isPart ? [] : (operation.parameters ?? []);
    const given = parameters
      .filter((each) => each.in === 'path' || each.in === 'query')
      .toSorted((one, other) => (one.in < other.in ? -1 : one.in > other.in ? 1 : 0))
      .map(({ name, in: place, required = false, description = '', schema }) =>
        this.#field(name, { ...schema, description }, !required, {
          from: place as 'path' | 'query',
          owner,
          isPaged,
        }),
      );
    const body = operation.requestBody ? this.#members([this.#bodyAt(at)], { from: 'body', owner }) : [];
    const fields = inOrder(owner, [...given, ...body]);
    return { name: owner, doc, fields, request: parse(at).method };
  }

  /** Members of one or more schemas. What one of them may lack is optional, and words are those of all. */
  #members(schemas: readonly Schema[], origin: Origin): readonly Field[] {
    const names = new Set(schemas.flatMap(({ properties = {} }) => Object.keys(properties)));
    const fields = [...names].map((name) => {
      const found = schemas.flatMap(({ properties = {} }) => properties[name] ?? []);
      const words = [...new Set(found.flatMap((each) => each.enum ?? []))];
      const isOptional = schemas.some(({ required = [] }) => !required.includes(name));
      return this.#field(
        name,
        { ...found[0]!, ...(words.length > 0 && { enum: words }) },
        isOptional,
        origin,
      );
    });
    return inOrder(origin.owner, fields);
  }

  #field(wire: string, schema: Schema, isOptional: boolean, origin: Origin): Field {
    const { from, owner, isPaged = false } = origin;
    const key = `${owner}.${wire}`;
    const kind = this.#kind(wire, schema, origin);
    const inPages: Readonly<Record<string, string>> = isPaged
      ? { limit: 'page_size', cursor: 'page_token' }
      : {};
    return {
      name: RENAMED[key] ?? inPages[wire] ?? wire,
      doc: DOCS[key] ?? docOf(kind, from === 'body' ? withLimits(kind, schema) : schema, isPaged),
      kind,
      isOptional: isOptional || isNullable(schema),
      from,
      minimum: schema.minimum ?? 0,
    };
  }

  #kind(wire: string, schema: Schema, origin: Origin): Kind {
    const { from, owner } = origin;
    if (from !== 'answer' && DURATIONS.includes(wire)) return { is: 'seconds' };
    const named = WORDS_OF_MEMBERS[`${owner}.${wire}`];
    if (named) return this.#words([], from, named);
    return (from === 'query' && this.#parameter(wire, schema)) || this.#value(wire, schema, origin);
  }

  /** Parameters of a query are texts, and only their names or descriptions tell what is in them. */
  #parameter(wire: string, { description = '', enum: words = [] }: Schema): Kind | undefined {
    if (wire === 'limit') return { is: 'page size' };
    if (wire === 'cursor') return { is: 'page token' };
    if (wire === 'from' || wire === 'to') return { is: 'time' };
    if (words.join() === 'true') return { is: 'boolean' };
    if (description.startsWith('The number of ')) return { is: 'integer', size: '64 bits', isUnsigned: true };
    const [list] = /^.*(?=, separated by commas)/.exec(description) ?? [];
    if (list === undefined) return undefined;
    const named = [...list.matchAll(/`(\w+)`/g)].map(([, word]) => word!);
    return { is: 'list', of: named.length > 0 ? this.#words(named, 'query') : { is: 'event type' } };
  }

  #value(wire: string, schema: Schema, origin: Origin): Kind {
    const { from, owner } = origin;
    const type = isNullable(schema) ? schema.type.find((each) => each !== 'null') : schema.type;
    const name = this.#names.get(shapeOf(schema));
    if (name) return { is: 'struct', name };
    switch (type) {
      case 'array':
        return { is: 'list', of: this.#value(wire, schema.items!, origin) };
      case 'object':
        if (schema.additionalProperties === true) return { is: 'object' };
        throw new Error(`${owner}.${wire} has no name`);
      case 'string':
        if (EVENT_TYPES.includes(wire)) return { is: 'event type' };
        if (SECRETS.includes(wire)) return { is: 'secret' };
        if (schema.enum) return this.#words(schema.enum, from);
        return { is: schema.format === 'date-time' ? 'time' : 'text' };
      case 'integer': {
        if (wire === 'micros' || wire.endsWith('_micros')) return { is: 'micros' };
        const sizes = { int64: '64 bits', bigint: 'huge' } as const;
        const size = sizes[schema.format as keyof typeof sizes] ?? 'usual';
        return { is: 'integer', size, isUnsigned: UNSIGNED.includes(owner) };
      }
      case 'boolean':
      case 'number':
        return { is: type };
      default:
        throw new Error(`${owner}.${wire} has no type`);
    }
  }

  /** The type that has exactly these words, or else the only one that has them all. */
  #words(words: readonly string[], from: Field['from'], given?: string): Kind {
    const holding = Object.entries(WORDS).filter(([, type]) => {
      const all = [...Object.keys(type.words), ...(type.unknown ?? [])];
      return words.every((word) => all.includes(word));
    });
    const exact = holding.find(([, type]) => {
      return Object.keys(type.words).length + (type.unknown?.length ?? 0) === words.length;
    });
    if (!exact && !given && holding.length !== 1) throw new Error(`there is no type for ${words.join(', ')}`);
    const [name] = exact ?? holding[0]!;
    if (exact) this.#usedWords.add(name);
    if (from === 'answer') this.#answeredWords.add(given ?? name);
    return { is: 'words', name: given ?? name };
  }
}

/** `GET /v1/billing recent`. */
function parse(place: string) {
  const [method, path, way = ''] = place.split(' ');
  return {
    method: method!,
    operation: `${method} ${path}`,
    way: way.split('.').filter((each) => each !== ''),
  };
}

function memberAt(schema: Schema | undefined, place: string): Schema {
  const found = parse(place).way.reduce<Schema | undefined>((outer, name) => {
    const member = outer?.properties?.[name];
    return member?.items ?? member;
  }, schema);
  if (!found) throw new Error(`there is nothing at ${place}`);
  return found;
}

/** What types have in common that differ in descriptions and limits alone. */
export function shapeOf({
  type,
  format,
  enum: words,
  items,
  properties,
  required,
  additionalProperties,
}: Schema): string {
  const members = Object.entries(properties ?? {}).map(([name, each]) => [name, shapeOf(each)]);
  const item = items && shapeOf(items);
  return JSON.stringify([type, format, words, item, members, required?.toSorted(), additionalProperties]);
}

function isNullable(schema: Schema): schema is Schema & { readonly type: readonly string[] } {
  return Array.isArray(schema.type);
}

/** A limit that only keeps numbers exact. */
const HIGH = 1e9;

/** A request may be refused for what the description of its member does not say. */
function withLimits(kind: Kind, schema: Schema): Schema {
  const { description = '', minimum, maximum, minLength = 0, maxLength, maxItems } = schema;
  const limits = [
    kind.is === 'seconds'
      ? 'Whole seconds'
      : minimum !== undefined && maximum! < HIGH && `${minimum} to ${maximum}`,
    maxLength !== undefined && minLength > 0 && `${minLength} to ${maxLength} characters`,
    maxLength !== undefined && minLength === 0 && `At most ${maxLength} characters`,
    maxItems !== undefined && `At most ${maxItems}`,
  ].filter((each) => each !== false);
  const [told, absent = ''] = description.split(/(?=\. Absent: )/);
  return { ...schema, description: [told, ...limits].join('. ') + absent };
}

/** What is described as left out or null is absent in both SDKs. */
function docOf(kind: Kind, { description = '', default: usual }: Schema, isPaged: boolean): string {
  if (kind.is === 'page size')
    return description.replace(/^.*at most (\d+), (\d+) if.*$/, '1 to $1; 0 is $2');
  if (kind.is === 'page token') {
    return `\`next_${isPaged ? 'page_token' : 'cursor'}\` of the previous page; empty: the first page`;
  }
  const doc = description
    .replace(/(?:, of (?:`\w+`,? ?)+)?, separated by commas/, '')
    .replace(/; (`\w+`) if it is left out$/, '. Absent: $1')
    .replace(/; null: /, '. Absent: ')
    .replace(/\b(?:Null|Left out): /, 'Absent: ')
    .replace(/^(.*) of the period: a day .*$/, '$1 of the period');
  return kind.is === 'words' && usual ? `${doc}. Absent: \`${usual}\`` : doc;
}

function inOrder(owner: string, fields: readonly Field[]): readonly Field[] {
  const first = FIRST[owner] ?? [];
  const place = ({ name }: Field) => (first.includes(name) ? first.indexOf(name) : first.length);
  return fields.toSorted((one, other) => place(one) - place(other));
}
