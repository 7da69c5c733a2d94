/**
 * The OpenAPI description of the REST interface and `/join`, without a service and its database.
 *
 *     node scripts/describe-rest.ts FILE    writes what `/openapi.json` serves
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import type { Deps } from '../src/doors/deps.ts';
import { JOIN_DESCRIPTION } from '../src/doors/join/join.ts';
import { makeMetrics } from '../src/doors/metrics.ts';
import { buildRest } from '../src/doors/rest/server.ts';

/** What `/openapi.json` serves. The routes are not called, so they need nothing to work with. */
export async function describeRest(): Promise<unknown> {
  const deps = {
    log: pino({ enabled: false }),
    metrics: makeMetrics(),
    config: { publicUrl: 'https://boxoffice.example.org' },
  };
  const door = { trustProxy: [], alsoDescribed: [JOIN_DESCRIPTION] };
  const app = await buildRest(deps as unknown as Deps, door);
  const answer = await app.inject('/openapi.json');
  await app.close();
  return answer.json();
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (!file) throw new Error('usage: describe-rest.ts FILE');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(await describeRest(), null, 2));
}
