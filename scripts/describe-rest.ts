/**
 * The OpenAPI description of the REST interface and `/join`, without a service and its database.
 *
 *     node scripts/describe-rest.ts FILE    writes what `/openapi.json` serves
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import type { Deps } from '../src/doors/deps.ts';
import type { Http } from '../src/doors/http/http.ts';
import { JOIN_DESCRIPTION } from '../src/doors/join/join.ts';
import { makeMetrics } from '../src/doors/metrics.ts';
import { buildRest } from '../src/doors/rest/server.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The JSON that an operation answers if it succeeds; `undefined`: nothing. */
export function answerOf({ responses }: Operation): Schema | undefined {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2'))!;
  return answer.content?.['application/json']?.schema;
}

/** What `/openapi.json` serves. */
export async function describeRest(): Promise<Description> {
  return withDescribedRest(async (app) => (await app.inject('/openapi.json')).json());
}

/** The REST door, for what it says of itself. Its other routes are not called, so they need nothing to work with. */
export async function withDescribedRest<Result>(use: (app: Http) => Promise<Result>): Promise<Result> {
  const deps = {
    log: pino({ enabled: false }),
    metrics: makeMetrics(),
    config: { publicUrl: 'https://boxoffice.example.org' },
  };
  const door = { trustProxy: [], alsoDescribed: [JOIN_DESCRIPTION] };
  const app = await buildRest(deps as unknown as Deps, door);
  try {
    return await use(app);
  } finally {
    await app.close();
  }
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (!file) throw new Error('usage: describe-rest.ts FILE');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(await describeRest(), null, 2));
}
