/** Budgets: minters and relays race for each, many rounds beside each other, and processes are killed meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MintClientTokenRequestSchema } from '@boxoffice/contract/token_service';
import { create, toBinary } from '@bufbuild/protobuf';
import { type Client, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { inTransaction } from '../src/base/db/transaction.ts';
import { Lanes } from '../src/base/lib/lanes.ts';
import { renderTenantId, type TenantId } from '../src/base/tenants/tenant.ts';
import { openFirstRoom } from '../src/control/admission/open-first-room.sql.ts';
import { putBudget } from '../src/control/budgets/put-budget.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import { RateCards } from '../src/money/pricing/rate-cards.ts';
import { callerOf, makeKey, OPERATOR } from '../test/support/tenants.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { CONNECTIONS_MAX, call, openClients } from './calls.ts';
import {
  type BenchProcess,
  type BenchTenant,
  makeBenchTenant,
  onLongClient,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10_000);
/** No further round begins after so many minutes. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? Number.POSITIVE_INFINITY);
/** Rounds at the same time. */
const BESIDE = Number(process.env.BENCH_BESIDE ?? 20);
const MINTERS = 64;
const RELAYS = 8;
/** Tokens of sound that fit into the budget of a round. */
const FITS = 20;
/** What a token of sound for ten minutes costs at most, at the built-in rates. */
const TOKEN_MICROS = 3_000n;
const CREDIT_MICROS = 10n ** 9n;
/** Minters and relays ask again while the service is busy, each time after a longer wait. */
const ATTEMPTS = 60;
const WAIT_MS = 100;
/** As many as the stand has connections. */
const LANES = new Lanes(4);
const MINT = '/boxoffice.control.v1.TokenService/MintClientToken';
const DEVICE = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

export const budgets: Benchmark = {
  name: 'budgets',
  minutes: 60,
  summary: `${ROUNDS.toLocaleString('en-US')} races of ${MINTERS} minters for a budget, half with SIGKILL of a process`,
  protocol: `In each round, ${MINTERS} minters at two processes want tokens for one customer, whose hard budget has room for ${FITS},
    while ${RELAYS} relays report a second, at the ceiling, of tokens that were answered. Each round has a tenant of its own, and ${BESIDE}
    run beside each other. Of every second ${BESIDE}, one process is killed in the middle; who got no answer asks the other one. A round
    fails unless exactly ${FITS} were admitted, spent and held are within the budget, and the holds add up to what is held. Then the
    budget is raised by one token: the next request must be admitted, and the one after it refused. At the end, each budget must have
    spent what its tenant was charged; then all tokens expire for longer than the grace time, and nothing may be held. BENCH_ROUNDS is
    the number of rounds, BENCH_BESIDE how many run beside each other, and after BENCH_MINUTES no further one begins.`,
  isByNameOnly: true,
  async run(bench) {
    const race = await openRace(bench);
    const deadline = performance.now() + MINUTES * 60_000;
    let rounds = 0;
    while (rounds < ROUNDS && performance.now() < deadline) {
      bench.progress(`round ${rounds}`);
      await runBeside(race, rounds, Math.min(BESIDE, ROUNDS - rounds));
      rounds += BESIDE;
    }
    bench.progress('waiting until usage is spent, and holds are given back');
    await expireAll(race.stand);
    bench.note('rounds, each with exactly as many admitted as fit', Math.min(rounds, ROUNDS), 'rounds');
    bench.note('rounds that a killed process interrupted', race.interrupted, 'rounds');
    bench.note('processes killed', race.killed, 'processes');
    bench.note('tokens that were refused', race.refused, 'tokens');
    bench.note('requests that were sent again', race.again, 'requests');
    bench.note('budgets with something held in the end', 0, 'budgets');
  },
};

interface Race {
  readonly bench: Bench;
  readonly stand: Stand;
  /** For the relays. */
  readonly rest: BenchProcess;
  readonly steady: Minting;
  /** It is killed, and the spare one takes its place. */
  victim: Minting;
  spare: Promise<Minting>;
  killed: number;
  interrupted: number;
  refused: number;
  again: number;
}

/** A process that mints. */
interface Minting {
  readonly process: BenchProcess;
  readonly clients: readonly Client[];
}

interface Round extends BenchTenant {
  readonly number: number;
  readonly relayKey: string;
  /** Users who got a token. */
  readonly answered: string[];
  /** Minters without an answer. */
  waiting: number;
}

async function openRace(bench: Bench): Promise<Race> {
  const stand = await openStand(bench);
  const rest = await openProcess(bench, stand, './service.ts');
  const steady = await openMinting(bench, stand);
  const victim = await openMinting(bench, stand);
  const spare = openMinting(bench, stand);
  return { bench, stand, rest, steady, victim, spare, killed: 0, interrupted: 0, refused: 0, again: 0 };
}

async function openMinting(bench: Bench, stand: Stand): Promise<Minting> {
  const process = await openProcess(bench, stand, './service.ts', { BENCH_PORT: 'grpc' });
  return { process, clients: await openClients(bench, process.url, CONNECTIONS_MAX) };
}

async function runBeside(race: Race, first: number, count: number): Promise<void> {
  const rounds = await Promise.all(
    Array.from({ length: count }, (_, at) => LANES.run(() => openRound(race.stand, first + at))),
  );
  const isKilling = (first / BESIDE) % 2 === 0;
  const racing = rounds.map((round) => runRound(race, round));
  await Promise.all([...racing, isKilling && killAmid(race, rounds)]);
  await Promise.all(rounds.map((round) => LANES.run(() => checkRound(race, round))));
}

async function openRound(stand: Stand, number: number): Promise<Round> {
  const made = await makeBenchTenant(stand, 'backend');
  const { plaintext: relayKey } = await makeKey(stand.db, made.tenant, 'relay');
  const credit = { amount: CREDIT_MICROS, reason: 'bench', id: undefined };
  await adjustCredit(stand.db, OPERATOR, made.tenant, credit);
  await openFirstRoom(stand.db, made.tenant, 'lobby');
  await setBudget(stand, made.tenant, FITS);
  return { ...made, number, relayKey, answered: [], waiting: MINTERS };
}

/** A repetition renews the token by seconds, so there is room for less than one token more. */
function maxOf(tokens: number): bigint {
  return BigInt(tokens + 1) * TOKEN_MICROS - 1n;
}

async function setBudget({ db }: Stand, tenant: TenantId, tokens: number): Promise<void> {
  const caller = { ...callerOf(tenant), actor: OPERATOR };
  await inTransaction(db, (tx) =>
    putBudget(tx, { rates: new RateCards() }, caller, {
      ...{ id: 'acme', keyId: null, room: null, customer: 'acme', period: 'total' },
      ...{ max: maxOf(tokens), hard: true, shares: [] },
    }),
  );
}

/** Each relay reports the next two users who have tokens. */
async function runRound(race: Race, round: Round): Promise<void> {
  const { answered } = round;
  const mints = Array.from({ length: MINTERS }, async (_, at) => {
    const username = `user-${at}`;
    const isAdmitted = await mintSurely(race, round, username, at);
    round.waiting -= 1;
    if (!isAdmitted) return;
    const tokens = answered.push(username);
    if (tokens % 2 === 0 && tokens <= 2 * RELAYS) await report(race, round, answered.slice(-2));
  });
  await Promise.all(mints);
}

/** Kill the victim after some answers, each time after others. */
async function killAmid(race: Race, rounds: readonly Round[]): Promise<void> {
  const after = 1 + ((race.killed * 37) % ((rounds.length * FITS) / 2));
  const answers = () => rounds.reduce((sum, { answered }) => sum + answered.length, 0);
  const isRunning = () => rounds.some(({ waiting }) => waiting > 0);
  while (isRunning() && answers() < after) await sleep(1);
  race.interrupted += rounds.filter(({ waiting }) => waiting > 0).length;
  await race.victim.process.kill();
  race.killed += 1;
  for (const client of race.victim.clients) client.close();
  race.victim = await race.spare;
  race.spare = openMinting(race.bench, race.stand);
}

/** Whether it was admitted. Asks the process that lives where the other one gave no answer. */
async function mintSurely(race: Race, round: Round, username: string, at: number): Promise<boolean> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${round.key}`);
  const request = create(MintClientTokenRequestSchema, {
    tenant: renderTenantId(round.tenant),
    ...{ room: 'lobby', username, customer: 'acme', deviceThumbprint: DEVICE },
    role: 'audience',
    capabilities: ['subscribe.audio'],
  });
  const bytes = Buffer.from(toBinary(MintClientTokenRequestSchema, request));
  for (let attempt = 0; ; attempt += 1) {
    const { clients } = attempt === 0 && at % 2 === 1 ? race.victim : race.steady;
    try {
      await call(clients[(at >> 1) % clients.length]!, MINT, bytes, metadata);
      return true;
    } catch (error) {
      const { code, details = '' } = error as ServiceError;
      if (code === status.FAILED_PRECONDITION && details.startsWith('budget reached: acme')) {
        race.refused += 1;
        return false;
      }
      // INTERNAL: the answer was lost on its way.
      const isLost = code === status.UNAVAILABLE || code === status.INTERNAL;
      if (clients === race.steady.clients && (!isLost || attempt === ATTEMPTS)) throw error;
      race.again += 1;
      await sleep(attempt * WAIT_MS);
    }
  }
}

/** A second of these participants, at the ceiling of sound. */
async function report(
  { rest }: Race,
  { number, relayKey }: Round,
  participants: readonly string[],
): Promise<void> {
  const records = participants.map((participant) => ({
    id: `${number}.${participant}`,
    ...{ room: 'lobby', participant, role: 'audience', tier: 'audio' },
    ...{ seconds: 1, egress_bytes: 1_000_000_000, ingress_bytes: 0 },
  }));
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${relayKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  };
  for (let attempt = 0; ; attempt += 1) {
    const answer = await fetch(`${rest.url}/v1/usage`, request);
    const text = await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 503 || attempt === ATTEMPTS)
      throw new Error(`a report got ${answer.status}: ${text}`);
    await sleep(attempt * WAIT_MS);
  }
}

async function checkRound(race: Race, round: Round): Promise<void> {
  const { stand } = race;
  const { tenant, answered } = round;
  const { rows } = await stand.db.query<{ admitted: bigint; spent: bigint; held: bigint; holds: bigint }>({
    name: 'check-round',
    text: `select b.spent, b.held, (select count(*) from admissions where tenant_id = $1) as admitted,
                  (select coalesce(sum(ceil(rate * seconds / 60000.0)), 0)::bigint from budget_holds
                    where tenant_id = $1 and b.uid = any(budgets)) as holds
             from budgets b where b.tenant_id = $1`,
    values: [tenant],
  });
  const { admitted, spent, held, holds } = rows[0]!;
  // Tokens that were asked for again hold some seconds more each. On a slow machine that leaves too little for the last to ask again.
  const isRoomUsed = spent + held > BigInt(FITS) * TOKEN_MICROS;
  const hasFitting =
    Number(admitted) === FITS && (answered.length === FITS || (answered.length < FITS && isRoomUsed));
  const isWithin = spent + held <= maxOf(FITS) && held === holds;
  await setBudget(stand, tenant, FITS + 1);
  const isNextAdmitted = await mintSurely(race, round, 'next', 0);
  const isLastRefused = !(await mintSurely(race, round, 'last', 1));
  if (hasFitting && isWithin && isNextAdmitted && isLastRefused) return;
  throw new Error(
    `round ${round.number}: ${FITS} fit, ${admitted} admitted, ${answered.length} answered, ${spent} spent, ${held} held, ` +
      `holds of ${holds}; with one token more, the next was ${isNextAdmitted ? '' : 'not '}admitted, and the last ` +
      `${isLastRefused ? '' : 'not '}refused`,
  );
}

/** The jobs of the services spend what was charged, and give back what is older than the grace time. */
async function expireAll(stand: Stand): Promise<void> {
  await untilNone(
    stand,
    'budgets that have not spent what was charged',
    `select count(*) as left from budgets join accounts using (tenant_id) where spent <> ${CREDIT_MICROS} - balance`,
  );
  await onLongClient(stand, async (client) => {
    await client.query(`update admissions set expires_at = now() - interval '1 day'`);
    await client.query(`update budget_holds set until = now() - interval '1 day'`);
  });
  await untilNone(
    stand,
    'holds or budgets with something held, after the grace time',
    'select (select count(*) from budget_holds) + (select count(*) from budgets where held <> 0) as left',
  );
}

async function untilNone({ db }: Stand, what: string, text: string): Promise<void> {
  const deadline = performance.now() + 1_800_000;
  for (;;) {
    const { rows } = await db.query<{ left: bigint }>(text);
    if (rows[0]!.left === 0n) return;
    if (performance.now() > deadline) throw new Error(`${rows[0]!.left} ${what}`);
    await sleep(1_000);
  }
}
