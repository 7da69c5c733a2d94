/** The vectors of docs/vectors, decided by the relay half of each SDK. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../driver.ts';
import { normalise } from '../normalise.ts';
import { type At, known, type Step } from '../step.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/vectors');
const HOUR_SECONDS = 3600;

function read(name: string): Json {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
}

const TOKENS = read('participant-tokens.json');
const THIEF = read('thief.json');
const REVOCATIONS = read('revocations.json');
const REQUESTS = read('webhooks.json');
const STATEMENTS = read('statements.json');

/** Null, which admits, is left out of outcomes: it is told as a word. */
function codesOf(file: Json): Json {
  const entries = file.vectors.map(({ name, code }: Json) => [name, code ?? 'admitted']);
  return Object.fromEntries(entries);
}

async function decide(at: At, file: string): Promise<Json> {
  const { ok, error } = known(await at.driver.ask({ op: 'vectors', file }));
  if (error !== undefined) return { error };
  return Object.fromEntries(Object.entries(ok).map(([name, code]) => [name, code ?? 'admitted']));
}

/** With a clock that is wrong by so many seconds. */
async function decideAt(at: At, seconds: number): Promise<Json> {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-vectors-'));
  at.onEnd(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'vectors.json');
  writeFileSync(file, JSON.stringify({ ...TOKENS, now: TOKENS.now + seconds }));
  return await decide(at, file);
}

export const VECTORS: readonly Step[] = [
  {
    name: `vectors: ${TOKENS.vectors.length} tokens and proofs`,
    run: (at) => decide(at, join(FOLDER, 'participant-tokens.json')),
    expect: codesOf(TOKENS),
  },
  {
    name: `vectors: ${THIEF.vectors.length} attacks of a thief`,
    run: (at) => decide(at, join(FOLDER, 'thief.json')),
    expect: codesOf(THIEF),
  },
  {
    name: 'vectors: with a clock that is an hour fast, or slow',
    run: async (at) => ({ fast: await decideAt(at, HOUR_SECONDS), slow: await decideAt(at, -HOUR_SECONDS) }),
    expect: {
      fast: { good: 'TOKEN_EXPIRED', 'typ JWT': 'TOKEN_WRONG_TYPE' },
      slow: { good: 'TOKEN_NOT_YET_VALID', 'typ JWT': 'TOKEN_WRONG_TYPE' },
    },
  },
  {
    name: `vectors: ${REVOCATIONS.checks.length} checks of a snapshot of revocations`,
    run: async (at) => {
      const file = join(FOLDER, 'revocations.json');
      const { ok, error } = known(await at.driver.ask({ op: 'revocation_vectors', file }));
      if (error !== undefined) return { error };
      const checks = Object.entries<Json>(ok.checks).map(([name, found]) => [name, describe(found)]);
      return { hashes: ok.hashes, claims: ok.claims, checks: Object.fromEntries(checks) };
    },
    expect: {
      hashes: REVOCATIONS.hashes.map(({ hash }: Json) => hash),
      claims: snapshotOf(REVOCATIONS.claims),
      checks: Object.fromEntries(REVOCATIONS.checks.map((each: Json) => [each.name, describe(each)])),
    },
  },
  {
    name: `vectors: ${REQUESTS.vectors.length} requests to receivers of webhooks`,
    run: async (at) => {
      const { ok, error } = await at.driver.ask({
        op: 'webhook_vectors',
        file: join(FOLDER, 'webhooks.json'),
      });
      if (error !== undefined) return { error };
      const found = Object.entries<Json>(ok).map(([name, each]) => [name, each.code ?? knownOf(each.event)]);
      return Object.fromEntries(found);
    },
    expect: Object.fromEntries(
      REQUESTS.vectors.map(({ name, code, event }: Json) => [name, code ?? knownOf(normalise(event))]),
    ),
  },
  {
    name: `vectors: ${STATEMENTS.vectors.length} signed statements`,
    run: async (at) => {
      const { ok, error } = await at.driver.ask({
        op: 'statement_vectors',
        file: join(FOLDER, 'statements.json'),
      });
      if (error !== undefined) return { error };
      return Object.fromEntries(
        Object.entries<Json>(ok).map(([name, each]) => [name, each.code ?? each.statement]),
      );
    },
    expect: Object.fromEntries(
      STATEMENTS.vectors.map(({ name, code, jws }: Json) => [name, code ?? normalise(payloadOf(jws))]),
    ),
  },
];

function payloadOf(jws: string): Json {
  return JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString());
}

/** The members of an event that all SDKs write alike. Some also show those that they do not know. */
function knownOf({ id, seq, type, timestamp, skipped, data }: Json): Json {
  return { id, seq, type, timestamp, skipped, data };
}

/** What a relay reads of the claims. */
function snapshotOf({ exp, epochs, bans, mutes, closed, reasons }: Json): Json {
  return { exp, epochs, bans, mutes, closed, reasons, seq: '<seq>' };
}

/** What a check found, in words. */
function describe({ code, reason, muted }: Json): string {
  if (code) return reason ? `${code} ${reason}` : code;
  return `admitted, muted: ${(muted ?? []).join(' ') || 'nothing'}`;
}
