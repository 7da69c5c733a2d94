/** Rules of secrets: what clients got to prove who they are is nowhere in plain text. The journal has hashes of it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Facts } from '../facts.ts';
import type { Look, Rule } from '../rule.ts';

export const SECRET_RULES: readonly Rule[] = [
  { name: 'no table has a secret in plain text', check: checkTables },
  { name: 'no log of a service has a secret in plain text', check: checkLogs },
];

/** Where a secret stands, it is all of such a run: base64url, or base64. */
const RUNS = ['[A-Za-z0-9_-]{32,}', '[A-Za-z0-9+/]{32,}'] as const;

/** What secrets are of, by the digests of their runs. */
function digestsOf(facts: Facts): ReadonlyMap<string, string> {
  return new Map(
    facts
      .of('secret.got')
      .flatMap(({ args }) =>
        (args.digests ?? []).map((digest) => [digest, `${args.what} of ${args.tenant}`] as const),
      ),
  );
}

/** The text of a row has bytes as hex after an x. */
const FOUND_IN = (table: string) => `
  select d.digest, count(*) as count from ${table} t
    cross join lateral (${RUNS.map((run) => `select (regexp_matches(t::text, '${run}', 'g'))[1]`).join(' union ')}) r (found)
    cross join lateral (select encode(sha256(case when r.found ~ '^x([0-9a-f]{2})+$' then decode(substr(r.found, 2), 'hex')
                                                  else convert_to(r.found, 'UTF8') end), 'base64')) d (digest)
   where d.digest in (select unnest($1::text[])) group by 1`;

async function checkTables(facts: Facts, look: Look): Promise<void> {
  const secrets = digestsOf(facts);
  if (secrets.size === 0) return;
  for (const table of await facts.db.tables()) {
    look.at(secrets.size);
    for (const { digest, count } of await facts.db.rows(FOUND_IN(table), [[...secrets.keys()]]))
      look.wrong(`the ${secrets.get(digest!)} is in ${count} rows of ${table}`);
  }
}

async function checkLogs(facts: Facts, look: Look): Promise<void> {
  const secrets = digestsOf(facts);
  const runs = RUNS.map((run) => new RegExp(run, 'g'));
  for (const path of facts.reads.logs ?? []) {
    look.at(secrets.size);
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const digests = runs
        .flatMap((run) => line.match(run) ?? [])
        .map((run) => createHash('sha256').update(run).digest('base64'));
      for (const digest of digests)
        if (secrets.has(digest)) look.wrong(`the ${secrets.get(digest)} is in a log`);
    }
  }
}
