/**
 * Makes the types of the REST interface for the SDK out of the description that `/openapi.json` serves.
 *
 *     node scripts/make-rest-types.ts       sdk/typescript/src/backend/rest-types.ts
 *
 * Names become camelCase, times become dates, and integers of 64 bits or more become bigints; the tables at the end
 * of the file tell the client how.
 */

import { writeFileSync } from 'node:fs';
import { ApiKeySchema } from '../src/access/keys/key-schema.ts';
import { words } from '../src/base/lib/schema.ts';
import { DetailsSchema } from '../src/doors/rest/billing-details.ts';
import { ExactSchema, LedgerEntrySchema, RateCardSchema, TenantSchema } from '../src/doors/rest/schemas.ts';
import {
  FurtherEntriesSchema,
  FurtherRoomsSchema,
  GrantedCreditSchema,
  StatementSchema,
} from '../src/doors/rest/statement-schema.ts';
import { UsageSumsSchema } from '../src/doors/rest/usage-summary.ts';
import {
  BasicAuthSchema,
  DeadLetterSchema,
  DeliverySchema,
  OwnHeaderSchema,
  WebhookSchema,
} from '../src/doors/rest/webhook-schema.ts';
import { AmountSchema } from '../src/money/amount-schema.ts';
import { ENTRY_KINDS } from '../src/money/ledger/posting.ts';
import { PUBLIC_EVENT_TYPES } from '../src/outward/events/event-catalogue.ts';
import { answerOf, type Description, describeRest, type Operation, type Schema } from './describe-rest.ts';

const TYPES_URL = new URL('../sdk/typescript/src/backend/rest-types.ts', import.meta.url);

const LINE_WIDTH = 110;

/** Device credentials are managed over the control plane, where a call can be repeated safely. */
const TAGS = ['Signup', 'Keys', 'Billing', 'Budgets', 'Usage', 'Rates', 'Participants', 'Webhooks', 'Audit'];

/** Schemas that get a name of their own wherever they stand. */
const NAMED = {
  Amount: AmountSchema,
  ExactAmount: ExactSchema,
  Tenant: TenantSchema,
  LedgerEntry: LedgerEntrySchema,
  ApiKey: ApiKeySchema,
  RateCard: RateCardSchema,
  FurtherEntries: FurtherEntriesSchema,
  FurtherRooms: FurtherRoomsSchema,
  BillingDetails: DetailsSchema,
  GrantedCredit: GrantedCreditSchema,
  Statement: StatementSchema,
  UsageSums: UsageSumsSchema,
  Webhook: WebhookSchema,
  WebhookDelivery: DeliverySchema,
  DeadLetter: DeadLetterSchema,
  WebhookHeader: OwnHeaderSchema,
  BasicAuth: BasicAuthSchema,
};

/** The same for lists of words. */
const NAMED_WORDS = {
  LedgerKind: words(ENTRY_KINDS, { description: 'What changed a balance' }),
  WebhookEventType: words(PUBLIC_EVENT_TYPES, { description: 'What happened' }),
};

/** The text of `rest-types.ts`. */
export async function makeTypes(): Promise<string> {
  return new Writer().write(await describeRest());
}

class Writer {
  readonly #names = new Map(
    Object.entries({ ...NAMED, ...NAMED_WORDS }).map(
      ([name, schema]) => [shapeOf(schema as Schema), name] as const,
    ),
  );
  readonly #renamed = new Map<string, string>();
  readonly #times = new Set<string>();
  readonly #integers = new Set<string>();
  readonly #asIs = new Set<string>();
  readonly #words = new Set<string>();

  write(description: Description): string {
    const operations = Object.entries(description.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { tags }]) => tags.some((tag) => TAGS.includes(tag)))
        .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
    );
    for (const { operation } of operations) this.#collectWords(operation);
    const interfaces = Object.entries(NAMED).map(
      ([name, schema]) =>
        `/** ${(schema as Schema).description}. */\nexport interface ${name} ${this.#object(schema as Schema, '')}\n`,
    );
    const unions = Object.entries(NAMED_WORDS).map(
      ([name, schema]) =>
        `/** ${(schema as Schema).description}. */\nexport type ${name} =${(schema as Schema).enum!.map((word) => `\n  | '${word}'`).join('')};\n`,
    );
    const members = operations.map(({ name, operation }) => this.#operation(name, operation));
    return [
      '/** The REST interface. Made by scripts/make-rest-types.ts; not to be edited. */\n',
      ...interfaces,
      ...unions,
      `/** What each operation takes and gives. */\nexport interface Operations {\n${members.join('')}}\n`,
      '/** Names on the wire, and here. */',
      `export const NAMES = ${asRecord(this.#renamed)} as const;\n`,
      '/** What is a time in answers, by its name on the wire. */',
      constant('TIMES', this.#times),
      '/** What is an integer of 64 bits or more in answers, by its name on the wire. */',
      constant('INTEGERS', this.#integers),
      '/** What is an object of any members in answers, which keep their names and values. */',
      constant('AS_IS', this.#asIs),
    ].join('\n');
  }

  #collectWords(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const word of (value as Schema).enum ?? []) this.#words.add(word);
    for (const each of Object.values(value)) this.#collectWords(each);
  }

  #operation(name: string, operation: Operation): string {
    const { summary, parameters = [], requestBody } = operation;
    const placed = (place: string) => parameters.filter((parameter) => parameter.in === place);
    const [path, query] = [placed('path'), placed('query')];
    const body = requestBody?.content['application/json']?.schema;
    const schema = answerOf(operation);
    const fields = [
      path.length > 0 && `/** In the path. */\n    path: ${this.#parameters(path)};`,
      query.length > 0 && `/** In the query. */\n    query?: ${this.#parameters(query)};`,
      body &&
        `/** The body. */\n    body${requestBody?.required ? '' : '?'}: ${this.#type(body, '    ', '')};`,
      `/** The answer. */\n    answer: ${schema ? this.#type(schema, '    ', '') : 'undefined'};`,
    ].filter(Boolean);
    return `  /** ${summary}. */\n  '${name}': {\n${fields.map((field) => `    ${field}\n`).join('')}  };\n`;
  }

  #parameters(parameters: NonNullable<Operation['parameters']>): string {
    const properties = Object.fromEntries(
      parameters.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description && { description }) },
      ]),
    );
    const required = parameters.filter((each) => each.required).map(({ name }) => name);
    return this.#object({ properties, required }, '    ');
  }

  #type(schema: Schema, indent: string, field: string): string {
    const name = this.#names.get(shapeOf(schema));
    if (name) return name;
    const { type } = schema;
    if (isNullable(type)) {
      const [other] = type.filter((each) => each !== 'null');
      return `${this.#type({ ...schema, type: other! }, indent, field)} | null`;
    }
    if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ');
    switch (type) {
      case 'object':
        if (schema.additionalProperties === true) {
          this.#asIs.add(field);
          return 'Record<string, unknown>';
        }
        return this.#object(schema, indent);
      case 'array': {
        const item = this.#type(schema.items!, indent, field);
        return item.includes('|') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
      }
      case 'string':
        if (schema.format !== 'date-time') return 'string';
        this.#times.add(field);
        return 'Date';
      case 'number':
        return 'number';
      case 'integer':
        if (schema.format !== 'int64' && schema.format !== 'bigint') return 'number';
        this.#integers.add(field);
        return 'bigint';
      case 'boolean':
        return 'boolean';
      default:
        throw new Error(`there is no type for ${JSON.stringify(schema)}`);
    }
  }

  #object({ properties = {}, required = [] }: Schema, indent: string): string {
    const names = Object.keys(properties);
    // Roles and tiers are values elsewhere, and must be the same words as keys.
    const isByWord = names.every((name) => this.#words.has(name));
    const lines = Object.entries(properties).map(([name, schema]) => {
      const here = isByWord ? name : camelCase(name);
      if (here !== name) this.#renamed.set(name, here);
      const doc = schema.description ? `${indent}  /** ${schema.description}. */\n` : '';
      const key = /^[a-z]\w*$/i.test(here) ? here : `'${here}'`;
      const optional = required.includes(name) ? '' : '?';
      const orUndefined = optional && ' | undefined';
      return `${doc}${indent}  ${key}${optional}: ${this.#type(schema, `${indent}  `, name)}${orUndefined};\n`;
    });
    return `{\n${lines.join('')}${indent}}`;
  }
}

function isNullable(type: Schema['type']): type is readonly string[] {
  return Array.isArray(type) && type.length === 2 && type.includes('null');
}

/** What two schemas have in common that differ in their descriptions alone. */
function shapeOf({ description: _, ...schema }: Schema): string {
  return JSON.stringify(schema);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function asRecord(entries: ReadonlyMap<string, string>): string {
  const lines = [...entries].sort(byText).map(([wire, here]) => `  ${wire}: '${here}',\n`);
  return `{\n${lines.join('')}}`;
}

/** As the formatter would have it. */
function constant(name: string, items: ReadonlySet<string>): string {
  const quoted = [...items].sort().map((item) => `'${item}'`);
  const set = (list: string) => `export const ${name}: ReadonlySet<string> = new Set([${list}]);\n`;
  const line = set(quoted.join(', '));
  return line.length <= LINE_WIDTH ? line : set(`\n${quoted.map((item) => `  ${item},\n`).join('')}`);
}

function byText([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

if (import.meta.main) writeFileSync(TYPES_URL, await makeTypes());
