/** Rules of changes: what was acknowledged is in the database, once. */
import { tenantOf } from '../database.ts';
import type { Facts } from '../facts.ts';
import { type Entry, roomIn } from '../journal.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';

/** An operation, and how its effect is named in an entry and in the database. */
interface Effect {
  readonly op: string;
  readonly ofEntry: (entry: Entry) => string | undefined;
  /** Selects a column `name` of each effect there is, with `tenant` where names belong to a tenant. */
  readonly sql: string;
}

const TENANT = `${tenantOf('tenant_id')} as tenant`;

const EFFECTS: readonly Effect[] = [
  {
    op: 'signup',
    ofEntry: ({ answer }) => answer?.tenant,
    sql: `select ${tenantOf('id')} as name, ${tenantOf('id')} as tenant from tenants`,
  },
  {
    op: 'key.create',
    ofEntry: ({ answer }) => answer?.key?.id,
    sql: `select id as name, ${TENANT} from api_keys`,
  },
  {
    op: 'key.rotate',
    ofEntry: ({ args }) => args.id,
    sql: `select id as name, ${TENANT} from api_keys where retires_at is not null or revoked_at is not null`,
  },
  {
    op: 'key.revoke',
    ofEntry: ({ args }) => args.id,
    sql: `select id as name, ${TENANT} from api_keys where revoked_at is not null`,
  },
  {
    op: 'credential.create',
    ofEntry: ({ answer }) => answer?.id,
    sql: `select id as name, ${TENANT} from device_credentials`,
  },
  {
    op: 'credential.revoke',
    ofEntry: ({ args }) => args.id,
    sql: `select id as name, ${TENANT} from device_credentials where revoked_at is not null`,
  },
  {
    op: 'room.create',
    ofEntry: (entry) => roomIn(entry).uid,
    sql: `select uid as name, ${TENANT} from rooms`,
  },
  {
    op: 'room.end',
    ofEntry: (entry) => roomIn(entry).uid,
    sql: `select uid as name, ${TENANT} from rooms where state = 'ENDED'`,
  },
  {
    op: 'watchdog.set',
    ofEntry: ({ answer }) => answer?.watchdog?.id,
    sql: `select id as name, ${TENANT} from watchdogs`,
  },
  {
    op: 'webhook.create',
    ofEntry: ({ answer }) => answer?.webhook?.id,
    sql: `select id as name, ${TENANT} from webhook_endpoints`,
  },
  {
    op: 'budget.set',
    ofEntry: ({ args }) => args.id,
    sql: `select id as name, ${TENANT} from budgets`,
  },
  {
    op: 'erasure.request',
    ofEntry: ({ answer }) => answer?.id,
    sql: `select id as name, ${TENANT} from erasures`,
  },
  {
    op: 'grant.create',
    ofEntry: ({ args }) => args.idempotency,
    sql: `select key as name, ${TENANT} from grants`,
  },
];

export const STORED_RULES: readonly Rule[] = [
  { name: 'what was acknowledged is stored', check: checkStored },
  { name: 'no grant is given that was not made', check: checkGrants },
  { name: 'no key is there that was not asked for', check: checkKeys },
];

const nameOf = (tenant: string | null | undefined, name: string | null) => JSON.stringify([tenant, name]);

async function checkStored(facts: Facts, look: Look): Promise<void> {
  for (const { op, ofEntry, sql } of EFFECTS) {
    const acknowledged = facts.of(op).filter(({ outcome }) => outcome === 'ok');
    if (acknowledged.length === 0) continue;
    const stored = new Set((await facts.db.rows(sql)).map(({ tenant, name }) => nameOf(tenant, name!)));
    for (const entry of acknowledged) {
      const name = ofEntry(entry);
      if (name === undefined) continue;
      const tenant = entry.args.tenant ?? entry.answer?.tenant;
      look.at();
      if (!stored.has(nameOf(tenant, name))) look.wrong(`${op} ${name} of ${tenant} was lost`);
    }
  }
}

/** A grant has the idempotency key of its request, and what it asked for. So has its posting. */
async function checkGrants(facts: Facts, look: Look): Promise<void> {
  const asked = new Map(
    withoutRepetitions(facts.of('grant.create'))
      .filter(({ outcome }) => outcome !== 'refused')
      .map(({ args }) => [
        nameOf(args.tenant, args.idempotency ?? null),
        `${args.amount} for "${args.reason}" until ${args.expires_at}`,
      ]),
  );
  const rows = await facts.db.rows(
    `select g.key, ${tenantOf('tenant_id')} as tenant, g.amount || ' for "' || g.reason || '" until ' ||
            coalesce(to_char(g.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'undefined') as given,
            g.amount || ' for "' || g.reason || '"' as due, p.amount || ' for "' || p.detail || '"' as posted
       from grants g full join (select * from postings where kind = 'grant') p using (tenant_id, seq)
      where ${tenantOf('tenant_id')} = any ($1)`,
    [[...facts.tenants]],
  );
  for (const { key, tenant, given, due, posted } of rows) {
    const wanted = asked.get(nameOf(tenant, key!));
    look.at();
    if (wanted !== given) look.wrong(`${key} of ${tenant} is ${given}, and was asked for as ${wanted}`);
    if (due !== posted) look.wrong(`${key} of ${tenant} is ${due}, and was posted as ${posted}`);
  }
}

/** Where keys are, and how an entry that made one names it. */
const KEYS = {
  api_keys: {
    ops: ['signup', 'key.create', 'key.rotate'],
    madeBy: ({ op, answer }: Entry) => (op === 'signup' ? answer?.key_id : answer?.key?.id),
  },
  device_credentials: { ops: ['credential.create'], madeBy: ({ answer }: Entry) => answer?.id },
};

/** A change without an answer may have made one whose id is not known. */
async function checkKeys(facts: Facts, look: Look): Promise<void> {
  for (const [table, { ops, madeBy }] of Object.entries(KEYS)) {
    const changes = withoutRepetitions(facts.of(...ops));
    const made = new Set(
      changes.map((entry) => nameOf(entry.args.tenant ?? entry.answer?.tenant, madeBy(entry) ?? null)),
    );
    const open = Map.groupBy(
      changes.filter(({ outcome }) => outcome === 'unknown'),
      ({ args }) => args.tenant,
    );
    const rows = await facts.db.rows(
      `select id, ${TENANT} from ${table} where ${tenantOf('tenant_id')} = any ($1)`,
      [[...facts.tenants]],
    );
    look.at(rows.length);
    for (const [tenant, keys] of Map.groupBy(rows, ({ tenant }) => tenant!)) {
      const strange = keys.filter(({ id }) => !made.has(nameOf(tenant, id!)));
      for (const { id } of strange.slice(open.get(tenant)?.length ?? 0))
        look.wrong(`${id} of ${tenant} is in ${table}, and was not asked for`);
    }
  }
}
