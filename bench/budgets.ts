/** Budgets: minters and relays race for each, and processes are killed meanwhile. */
import {
  MintClientTokenRequestSchema,
  MintClientTokenResponseSchema,
} from '@boxoffice/contract/token_service';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Client, Metadata, status } from '@grpc/grpc-js';
import { inTransaction } from '../src/base/db/transaction.ts';
import { renderTenantId } from '../src/base/tenants/tenant.ts';
import { openFirstRoom } from '../src/control/admission/open-first-room.sql.ts';
import type { WantedBudget } from '../src/control/budgets/budget.ts';
import { deleteBudget } from '../src/control/budgets/delete-budget.ts';
import { getBudget } from '../src/control/budgets/get-budgets.ts';
import { putBudget } from '../src/control/budgets/put-budget.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import { RateCards } from '../src/money/pricing/rate-cards.ts';
import { makeKey } from '../test/support/tenants.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { call, openClients } from './calls.ts';
import {
  type BenchProcess,
  type BenchTenant,
  makeBenchTenant,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10_000);
const MINTERS = 64;
const RELAYS = 8;
/** Tokens of sound that fit into the budget of a round. */
const FITS = 20;
/** What a token of sound for ten minutes costs at most, at the built-in rates. */
const TOKEN_MICROS = 3_000n;
/** Budgets at a time. */
const KEPT = 50;
const MINT = '/boxoffice.control.v1.TokenService/MintClientToken';
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';
const OPERATOR = { kind: 'operator', id: 'bench' } as const;

export const budgets: Benchmark = {
  name: 'budgets',
  summary: `${ROUNDS.toLocaleString('en-US')} races of ${MINTERS} minters for a budget, half with SIGKILL of a process`,
  protocol: `In each round, ${MINTERS} minters at two processes want tokens for one customer, whose hard budget has room for ${FITS},
    while ${RELAYS} relays report a minute, at the ceiling, of tokens that were answered. In every second round, one process is killed when
    the first tokens are answered, and starts again; who got no answer asks the other one. A round fails unless exactly ${FITS} were
    admitted, spent and held are within the budget, and the holds add up to what is held. At the end all tokens have expired for longer
    than the grace time, and nothing may be held. BENCH_ROUNDS is the number of rounds.`,
  isByNameOnly: true,
  async run(bench) {
    const race = await openRace(bench);
    for (let round = 0; round < ROUNDS; round += 1) {
      bench.progress(`round ${round}`);
      await runRound(race, round);
    }
    await expireAll(race.stand);
    bench.note('rounds, each with exactly as many admitted as fit', ROUNDS, 'rounds');
    bench.note('processes killed', race.killed, 'processes');
    bench.note('tokens that were refused', race.refused, 'tokens');
    bench.note('budgets with something held in the end', 0, 'budgets');
  },
};

interface Race {
  readonly bench: Bench;
  readonly stand: Stand;
  readonly tenant: BenchTenant;
  readonly relayKey: string;
  /** For the relays. */
  readonly rest: BenchProcess;
  /** Clients of a process that lives, and of one that is killed. */
  readonly steady: Client;
  victim: { readonly process: BenchProcess; readonly client: Client };
  killed: number;
  refused: number;
}

async function openRace(bench: Bench): Promise<Race> {
  const stand = await openStand(bench);
  const tenant = await makeBenchTenant(stand, 'backend');
  const { plaintext: relayKey } = await makeKey(stand.db, tenant.tenant, 'relay');
  await adjustCredit(stand.db, OPERATOR, tenant.tenant, {
    amount: 10n ** 12n,
    reason: 'bench',
    id: undefined,
  });
  await openFirstRoom(stand.db, tenant.tenant, 'lobby');
  const rest = await openProcess(bench, stand, './service.ts');
  const steady = (await openMinter(bench, stand)).client;
  const victim = await openMinter(bench, stand);
  return { bench, stand, tenant, relayKey, rest, steady, victim, killed: 0, refused: 0 };
}

async function openMinter(bench: Bench, stand: Stand) {
  const process = await openProcess(bench, stand, './service.ts', { BENCH_PORT: 'grpc' });
  const [client] = await openClients(bench, process.url, 1);
  return { process, client: client! };
}

async function runRound(race: Race, round: number): Promise<void> {
  const budget = wantedFor(round);
  await makeBudget(race, round);
  const answered: string[] = [];
  const mints = Array.from({ length: MINTERS }, async (_, at) => {
    const username = `user-${round}-${at}`;
    if (await mintSurely(race, username, budget.id, at % 2 === 0)) answered.push(username);
  });
  const reports = Array.from({ length: RELAYS }, (_, relay) => reportSome(race, round, relay, answered));
  if (round % 2 === 1) {
    while (answered.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await race.victim.process.kill();
    race.killed += 1;
    await Promise.all(mints);
    race.victim = await openMinter(race.bench, race.stand);
  }
  await Promise.all([...mints, ...reports]);
  await check(race, round, answered.length);
}

/** A repetition renews the token by seconds, so there is room for less than one token more. */
function wantedFor(round: number): WantedBudget {
  return {
    id: `round-${round}`,
    ...{ keyId: null, room: null, customer: `round-${round}` },
    period: 'total',
    max: BigInt(FITS) * TOKEN_MICROS + TOKEN_MICROS - 1n,
    hard: true,
    shares: [],
  };
}

/** Few budgets at a time, as tenants have. */
async function makeBudget({ stand, tenant: { tenant } }: Race, round: number): Promise<void> {
  const caller = { tenant, actor: OPERATOR, tenantLimits: null, tenantStatus: 'active' } as const;
  await inTransaction(stand.db, async (tx) => {
    if (round >= KEPT) await deleteBudget(tx, caller, wantedFor(round - KEPT).id);
    await putBudget(tx, { rates: new RateCards() }, caller, wantedFor(round));
  });
}

/** Whether it was admitted. Asks the process that lives where the other one gave no answer. */
async function mintSurely(
  race: Race,
  username: string,
  customer: string,
  isSteady: boolean,
): Promise<boolean> {
  const { tenant } = race;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${tenant.key}`);
  const request = create(MintClientTokenRequestSchema, {
    tenant: renderTenantId(tenant.tenant),
    ...{ room: 'lobby', username, customer, deviceThumbprint: DEVICE },
    role: 'audience',
    capabilities: ['subscribe.audio'],
  });
  const bytes = Buffer.from(toBinary(MintClientTokenRequestSchema, request));
  const ask = (client: Client) => call(client, MINT, bytes, metadata);
  try {
    const answer = await (isSteady
      ? ask(race.steady)
      : ask(race.victim.client).catch((error) => {
          if (error.code === status.FAILED_PRECONDITION) throw error;
          return ask(race.steady);
        }));
    return fromBinary(MintClientTokenResponseSchema, answer).token !== '';
  } catch (error) {
    if ((error as { code?: number }).code !== status.FAILED_PRECONDITION) throw error;
    race.refused += 1;
    return false;
  }
}

/** A minute of up to two participants, at the ceiling of sound. */
async function reportSome(
  { rest, relayKey }: Race,
  round: number,
  relay: number,
  answered: readonly string[],
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10 * (relay + 1)));
  const records = answered.slice(2 * relay, 2 * relay + 2).map((participant) => ({
    id: `${round}.${relay}.${participant}`,
    ...{ room: 'lobby', participant, role: 'audience', tier: 'audio' },
    ...{ seconds: 60, egress_bytes: 1_000_000_000, ingress_bytes: 0 },
  }));
  if (records.length === 0) return;
  const answer = await fetch(`${rest.url}/v1/usage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${relayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  if (answer.status !== 200) throw new Error(`a report got ${answer.status}: ${await answer.text()}`);
}

async function check(
  { stand: { db }, tenant: { tenant } }: Race,
  round: number,
  answered: number,
): Promise<void> {
  const { id, max } = wantedFor(round);
  const { rows } = await db.query<{ admitted: bigint }>(
    `select count(*) as admitted from admissions where tenant_id = $1 and username like $2`,
    [tenant, `user-${round}-%`],
  );
  const { spent, held } = await getBudget(db, tenant, id);
  const is = `${rows[0]!.admitted} admitted, ${answered} answered, ${spent} spent, ${held} held`;
  if (Number(rows[0]!.admitted) !== FITS || answered !== FITS || spent + held > max) {
    throw new Error(`round ${round}: ${is}; ${FITS} fit`);
  }
  const { rows: holds } = await db.query<{ sums: boolean }>(
    `select b.held = coalesce(sum(ceil(h.rate * h.seconds / 60000.0)), 0) as sums
       from budgets b left join budget_holds h on h.tenant_id = b.tenant_id and b.uid = any(h.budgets)
      where b.tenant_id = $1 and b.id = $2 group by b.held`,
    [tenant, id],
  );
  if (!holds[0]!.sums) throw new Error(`round ${round}: ${is}, which the holds do not add up to`);
}

/** The jobs of the services give back what is older than the grace time. */
async function expireAll({ db }: Stand): Promise<void> {
  await db.query(`update admissions set expires_at = now() - interval '1 day'`);
  await db.query(`update budget_holds set until = now() - interval '1 day'`);
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { rows } = await db.query<{ left: bigint }>(
      `select (select count(*) from budget_holds) + (select count(*) from budgets where held <> 0) as left`,
    );
    if (rows[0]!.left === 0n) return;
    if (performance.now() > deadline)
      throw new Error(`${rows[0]!.left} holds or budgets are left after the grace time`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
