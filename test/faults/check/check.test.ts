/** A campaign without a fault has no problem, and each fault that is planted is named by its rule. */
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { ALL_RULES, checkCampaign } from '../../../faults/check/check.ts';
import { Database } from '../../../faults/check/database.ts';
import { Facts } from '../../../faults/check/facts.ts';
import { type Entry, readJournal } from '../../../faults/check/journal.ts';
import { hasPorcupine } from '../../../faults/check/porcupine.ts';
import { type Rule, runRules, type Verdict } from '../../../faults/check/rule.ts';
import type { Reads } from '../../../faults/check/views.ts';
import { BUILD_MS_MAX } from '../../../scripts/toolchains.ts';
import { useControl } from '../../support/grpc.ts';
import { useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { entry } from './entries.ts';
import { BY_ROOM, IN_ORDER, PERSON, runSmallCampaign, type SmallCampaign } from './small-campaign.ts';

/** The checker reads the tables of one server. */
const isCluster = inject('citusServers').length > 0;

const app = useService();
const receiver = useReceiver();
const controlOf = useControl(app);
let campaign: SmallCampaign;
let verdict: Verdict;

/** Afterwards the service is stopped, and nothing but the rules guards the database. */
beforeAll(async () => {
  if (isCluster) return;
  const ran = await runSmallCampaign(app, receiver, controlOf);
  campaign = { ...ran, reads: remembered(ran.reads) };
  const { journal, reads } = campaign;
  verdict = await checkCampaign({ journal, databaseUrl: app.database.url, reads });
  await app.service.stop();
  await app.database.pool.query(UNGUARD);
}, BUILD_MS_MAX);

const UNGUARD = `do $$ declare each record; begin
  for each in select conrelid::regclass as name, conname from pg_constraint
               where contype in ('f', 'c') and connamespace = 'public'::regnamespace and conrelid > 0 loop
    execute format('alter table %s drop constraint %I', each.name, each.conname);
  end loop;
  for each in select oid::regclass as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %s disable trigger user', each.name);
  end loop;
end $$`;

/** Keeps the first answers, because the service is stopped later. */
function remembered({ tenants, ...reads }: Reads): Reads {
  const answers = new Map<string, Promise<unknown>>();
  const once = <T>(path: string, ask: () => Promise<T>): Promise<T> => {
    if (!answers.has(path)) answers.set(path, ask());
    return answers.get(path) as Promise<T>;
  };
  return {
    tenants,
    get: async (...asked) => structuredClone(await once(asked.join(), () => reads.get(...asked))),
    text: (...asked) => once(asked.join(), () => reads.text(...asked)),
    console: (...asked) => once(asked.join(), () => reads.console(...asked)),
  };
}

/** Rules for which a small campaign has no case. */
const LOOKS_AT_NOTHING = new Set([
  ...['a batch without an answer is charged as a whole or not at all', 'a refused batch charges nothing'],
  ...['no log of a service has a secret in plain text', 'a replaced key is refused once its overlap is over'],
  ...['a session that ended is refused', 'a room that ended admits no one', 'a banned user is not admitted'],
  ...['a banned device is not admitted', 'a key is replaced once'],
  'a snapshot of revocations voids each token that was ended before',
  ...['a relay with a stream is told in time of each token that was ended'],
  ...['the numbers that a relay is told never go back'],
  ...['a snapshot and a push hold what was ended up to their number'],
  'histories of budgets are linearizable',
  ...(hasPorcupine()
    ? []
    : ['keys', 'rooms', 'balances'].map((model) => `histories of ${model} are linearizable`)),
]);

test.skipIf(isCluster)('a campaign without a fault has no problem, and each rule has looked', () => {
  const { problems, looked } = verdict;
  expect(problems).toEqual([]);
  // Whether it is certain what came first depends on how long the small campaign takes.
  const certain = Object.keys(looked).filter((rule) => rule !== 'a top-up that is due comes');
  const idle = certain.filter((rule) => looked[rule] === 0);
  expect(new Set(idle)).toEqual(LOOKS_AT_NOTHING);
});

interface Planted {
  readonly rule: string;
  readonly says: RegExp;
  /** Changes the database. */
  readonly sql?: string | (() => string);
  readonly journal?: (entries: readonly Entry[]) => readonly Entry[];
  /** Changes an answer: what it is of, how, and what it is where the small campaign has none. */
  readonly answers?: readonly [path: RegExp, change: (body: Fields) => unknown, instead?: Fields];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are changed
type Fields = any;

/** Change the entries of an operation; `at`: only that one of them. What receivers got is that of one receiver. */
function changed(op: string, change: (entry: Fields) => unknown, at?: number, receiver = IN_ORDER) {
  return (entries: readonly Entry[]): readonly Entry[] => {
    let place = 0;
    return entries.map((entry) => {
      if (entry.op !== op || (entry.args.webhook ?? receiver) !== receiver) return entry;
      if (at !== undefined && place++ !== at) return entry;
      const copy = structuredClone(entry);
      change(copy);
      return copy;
    });
  };
}

const without = (op: string) => (entries: readonly Entry[]) => entries.filter((entry) => entry.op !== op);

/** A further entry like the last one of an operation, after all others. */
function added(op: string, change: (entry: Fields) => unknown) {
  return (entries: readonly Entry[]): readonly Entry[] => {
    const copy = structuredClone(entries.findLast((entry) => entry.op === op)!) as Fields;
    copy.invokedUs = Math.max(...entries.map(({ returnedUs }) => returnedUs ?? 0)) + 10;
    copy.returnedUs = copy.invokedUs + 10;
    copy.args.idempotency = 'added';
    change(copy);
    return [...entries, copy];
  };
}

const isInOrder = ({ args }: Entry) => args.webhook === IN_ORDER;

/** A request comes once more at the end. */
const repeated = (entries: readonly Entry[], { args }: Pick<Entry, 'args'>) =>
  added('webhook.received', (entry) => Object.assign(entry.args, args))(entries);

interface Near {
  readonly fault: string;
  readonly detail?: string;
  readonly shiftMs?: number;
  /** Microseconds before the request that comes again was accepted, and after that. */
  readonly fromUs?: number;
  readonly untilUs?: number;
}

const HOUR_US = 3_600_000_000;

/** Late answers of a busy machine would be excuses, too. */
const ofWebhooks = (entries: readonly Entry[]) => entries.filter(({ op }) => op.startsWith('webhook.'));

/** A request that was accepted, `which` of those of a receiver, comes once more at the end, long after a fault. It was the first service that sent it. */
function repeatedNear(
  entries: readonly Entry[],
  { fault, detail, shiftMs, fromUs = 0, untilUs = 0 }: Near,
  which = 0,
  receiver = IN_ORDER,
): readonly Entry[] {
  const got = entries.filter(({ args }) => args.webhook === receiver);
  const before = got.at(which)!;
  const last = Math.max(...entries.map(({ returnedUs }) => returnedUs ?? 0));
  const args = {
    ...{ name: fault, begunUs: before.invokedUs + fromUs },
    ...(detail !== undefined && { detail }),
    ...(shiftMs !== undefined && { shiftMs }),
  };
  const [endUs, againUs] = [before.invokedUs + untilUs, last + HOUR_US];
  return [
    ...ofWebhooks(entries).map((each) =>
      each === before ? { ...each, args: { ...each.args, sender: 0 } } : each,
    ),
    entry('fault', args, [endUs, endUs]),
    { ...before, args: { ...before.args, sender: 0 }, invokedUs: againUs, returnedUs: againUs },
  ];
}

/** The service's log knows the delivery that is repeated no more. */
const NOT_NOTED = 'delete from webhook_deliveries';
const BOTH_NOTED = `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status)
  select tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status from webhook_deliveries`;

const RECORDS = /^\/v1\/usage\/records/;
const LEDGER = /^\/v1\/ledger/;

const USAGE: readonly Planted[] = [
  {
    rule: 'an acknowledged record is charged exactly once',
    says: /small-99 of t_\w+ was lost/,
    journal: changed(
      'usage.report',
      ({ args }) => args.records.push({ ...args.records[0], id: 'small-99' }),
      0,
    ),
  },
  {
    rule: 'an acknowledged record is charged exactly once',
    says: /small-\d of t_\w+ was charged 2 times/,
    answers: [RECORDS, (body) => body.records.push(body.records[0])],
  },
  {
    rule: 'nothing is charged that was not sent, or other than it was sent',
    says: /small-5 of t_\w+ was never sent/,
    journal: (entries) => entries.filter(({ args }) => !args.records?.some(({ id }) => id === 'small-5')),
  },
  {
    rule: 'nothing is charged that was not sent, or other than it was sent',
    says: /small-4 of t_\w+ is .*"11".*, was sent as .*"10"/,
    answers: [RECORDS, (body) => body.records.find((each: Fields) => each.id === 'small-4').seconds++],
  },
  {
    rule: 'a batch without an answer is charged as a whole or not at all',
    says: /2 of 3 records of t_\w+ were charged, such as small-5/,
    journal: changed(
      'usage.report',
      (entry) => {
        Object.assign(entry, { outcome: 'unknown', returnedUs: null, answer: undefined });
        entry.args.records.push({ ...entry.args.records[0], id: 'small-99' });
      },
      2,
    ),
  },
  {
    rule: 'a refused batch charges nothing',
    says: /small-5 of t_\w+ was refused, and charged/,
    journal: changed('usage.report', (entry) => Object.assign(entry, { outcome: 'refused', status: 400 }), 2),
  },
  {
    rule: 'an answer counts each record of its batch',
    says: /3 \+ 1 \+ 0 are not the 3 records/,
    journal: changed('usage.report', ({ answer }) => answer.duplicates++, 0),
  },
  {
    rule: 'a total is what the request charged',
    says: /\d+ for 3 records of t_\w+, which cost (\d+) to \1/,
    journal: changed('usage.report', ({ answer }) => answer.total.micros++, 0),
  },
  {
    rule: 'a total is what the request charged',
    says: /\d+ for 1 records of t_\w+, which cost (\d+) to \1/,
    journal: changed('usage.report', ({ answer }) => answer.total.micros++, 1),
  },
  {
    rule: 'each charge was counted by one answer',
    says: /answers counted 3 records of t_\w+, and 6 are charged/,
    journal: changed(
      'usage.report',
      (entry) => Object.assign(entry.answer, { charged: 0, duplicates: 3, total: { micros: 0 } }),
      0,
    ),
  },
  {
    rule: 'a record that was acknowledged before is a duplicate',
    says: /0 duplicates of t_\w+, but 1 had been acknowledged before/,
    journal: changed('usage.report', ({ answer }) => Object.assign(answer, { charged: 2, duplicates: 0 }), 1),
  },
  ...(
    [
      [
        /2 of t_\w+ is unbilled, and it was not/,
        { sql: `update postings set kind = 'unbilled' where seq = 2` },
      ],
      [/1 of t_\w+ is unbilled, and it was not/, { journal: without('tenant.exempt') }],
      [
        /2 of t_\w+ is usage, and it was not/,
        {
          journal: (entries: readonly Entry[]) => {
            const { tenant } = entries[0]!.args;
            return [...entries, entry('tenant.exempt', { tenant: tenant!, exempt: true }, [1, 2])];
          },
        },
      ],
      [/t_\w+ is exempt, and it was not/, { sql: 'update tenants set exempt = true' }],
      [/t_\w+ is not exempt, and it was not/, { sql: 'update tenants set exempt = false' }],
    ] as const
  ).map(([says, rest]) => ({
    rule: 'usage is billed, unless an operator made its tenant exempt',
    says,
    ...rest,
  })),
];

/** A record of the tenant that pays is a row of the exempt one, which has the same id. */
const OTHER_OWNER = `alter table usage_records drop constraint usage_records_pkey;
  update usage_records r set tenant_id = t.id from tenants t where r.id = 'small-1' and t.exempt and r.tenant_id <> t.id`;

/** What happened after the settings of top-ups were made is an hour later, so that it is clear what was first. */
const LATER = `update top_up_attempts set first_sent_at = first_sent_at + interval '1 hour';
  update postings set at = at + interval '1 hour' where seq > 1`;

const MONEY: readonly Planted[] = [
  {
    rule: 'the balance is the sum of the ledger',
    says: /has \d+, its postings add up to \d+/,
    sql: 'update accounts set balance = balance + 1',
  },
  {
    rule: 'postings are numbered from 1 without a gap',
    says: /has \d+ where \d+ should be/,
    sql: 'update postings set seq = seq + 1 where seq = (select max(seq) from postings)',
  },
  {
    rule: 'each balance follows from the one before',
    says: /2 of t_\w+: \d+ and -\d+ make/,
    sql: 'update postings set balance_before = balance_before + 1, balance = balance + 1 where seq = 2',
  },
  {
    rule: 'times of postings do not go back',
    says: /3 of t_\w+ is of .*, the one before of/,
    sql: `update postings set at = at - interval '1 day' where seq = 3`,
  },
  {
    rule: 'a posting of usage is what its records cost',
    says: /2 of t_\w+ is -\d+, its records cost \d+/,
    sql: 'update postings set amount = amount - 1, balance = balance - 1 where seq = 2',
  },
  ...(
    [
      [/2 of t_\w+ has 2 rows of 3 records/, { sql: OTHER_OWNER }],
      [/t_\w+ has small-1 in 2 rows/, { sql: OTHER_OWNER }],
      [
        /2 of t_\w+ is -\d+, its rows cost \d+/,
        { sql: `update usage_records set amount = amount + 1 where id = 'small-1'` },
      ],
      [
        /1 of t_\w+ has 3 rows, and no client reported for it/,
        {
          journal: (entries: readonly Entry[]) => {
            const exempt = entries.find(({ op }) => op === 'tenant.exempt')!.args.tenant;
            return entries.filter(({ args }) => args.tenant !== exempt);
          },
        },
      ],
    ] as const
  ).map(([says, rest]) => ({ rule: 'the rows of a posting are of its tenant', says, ...rest })),
  {
    rule: 'a record costs its exact price and what rounding had left over',
    says: /small-1 of t_\w+ cost 932, should cost 931/,
    answers: [RECORDS, (body) => body.records.at(-1).total.micros++],
  },
  {
    rule: 'a record costs its exact price and what rounding had left over',
    says: /small-1 of t_\w+ is capped/,
    answers: [RECORDS, (body) => Object.assign(body.records.at(-1), { capped: true })],
  },
  {
    rule: 'what rounding leaves over is kept',
    says: /the account of t_\w+ keeps/,
    sql: 'update accounts set carry = 1006632960000',
  },
  {
    rule: 'all charges are their exact sum, rounded once',
    says: /t_\w+ was charged \d+, its usage costs \d+/,
    answers: [RECORDS, (body) => body.records.at(-1).total.micros++],
  },
  {
    rule: 'each side of the ledger is in another book',
    says: /of top_up and auto_top_up, payments has -\d+/,
    sql: `update payments set credited = credited + 1 where kind = 'top_up'`,
  },
  {
    rule: 'the books add up to zero',
    says: /they add up to -1/,
    sql: `update payments set credited = credited + 1 where kind = 'top_up'`,
  },
  {
    rule: 'adjustments are those that were made',
    says: /lacks 5/,
    journal: added('billing.read', (entry) => {
      entry.op = 'credit.adjusted';
      entry.args.amount = '5';
    }),
  },
  ...(
    [
      [
        /lacks 7 for "other"/,
        { journal: changed('credit.adjusted', ({ args }) => Object.assign(args, { reason: 'other' })) },
      ],
      [/has 7 for "other", which/, { sql: `update postings set detail = 'other' where kind = 'adjustment'` }],
      [
        /has 7 for "a test", which/,
        { journal: changed('credit.adjusted', ({ args }) => Object.assign(args, { tenant: 't_other' })) },
      ],
    ] as const
  ).map(([says, rest]) => ({ rule: 'adjustments are those that were made', says, ...rest })),
  {
    rule: 'charges are in the order in which they were acknowledged',
    says: /\d of t_\w+ was acknowledged before \d was sent/,
    journal: changed('usage.report', (entry) => Object.assign(entry, { invokedUs: 1, returnedUs: 2 }), 2),
  },
  {
    rule: 'a balance that was read was the balance at that time',
    says: /read \d+, between \d+ and \d+/,
    journal: changed('billing.read', ({ answer }) => answer.balance.micros++, 0),
  },
  ...(
    [
      [
        /billing.read of t_\w+ was not admitted, with \d+/,
        changed('billing.read', ({ answer }) => Object.assign(answer, { admitted: false }), 0),
      ],
      [
        /usage.report of t_\w+ was not admitted, with \d+/,
        changed('usage.report', ({ answer }) => Object.assign(answer, { admitted: false }), 2),
      ],
      [
        /mint of t_\w+ was not admitted, with \d+/,
        changed('mint', (entry) =>
          Object.assign(entry, { outcome: 'refused', answer: { error: 'insufficient credit: top up' } }),
        ),
      ],
    ] as const
  ).map(([says, journal]) => ({ rule: 'an answer admits if there is credit', says, journal })),
  {
    rule: 'an answer admits if there is credit',
    says: /mint of t_\w+ was admitted, with -\d+/,
    sql: 'update postings set balance = balance - 1000000000',
  },
];

/** The month before this one. */
const BEFORE = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1))
  .toISOString()
  .slice(0, 7);

/** A statement that says that nothing happened. */
function nothingIn(month: string) {
  const [opening, closing] = [{ micros: 0 }, { micros: 0 }];
  const [from, to] = [`${month}-01T00:00:00.000Z`, ''];
  const nothing = { entries: [], sum: { micros: 0 } };
  const parts = { payments: nothing, reversals: nothing, adjustments: nothing };
  const usage = { sum: { records: 0, total: { micros: 0 } } };
  return { tenant: { id: '' }, month, from, to, opening, ...parts, usage, closing };
}

const VIEWS: readonly Planted[] = [
  {
    rule: 'the pages of the ledger are the postings',
    says: /leaves \d+, and shows \d+/,
    answers: [LEDGER, (body) => body.entries[0].balance_after.micros++],
  },
  {
    rule: 'the pages of the ledger are the postings',
    says: /1 of t_\w+ is 50000000, and shown as 0/,
    answers: [LEDGER, (body) => body.entries.pop()],
  },
  {
    rule: 'the list of records is the usage of the ledger',
    says: /in the list, \["other"/,
    answers: [
      LEDGER,
      (body) =>
        Object.assign(
          body.entries.find((entry: Fields) => entry.kind === 'usage'),
          { id: 'other' },
        ),
    ],
  },
  {
    rule: 'the rows of records are in the list of records',
    says: /small-1 of t_\w+ is .*"61".*, and listed as .*"60"/,
    sql: `update usage_records set seconds = 61 where id = 'small-1'`,
  },
  {
    rule: 'the rows of records are in the list of records',
    says: /small-7 of t_\w+ is not listed/,
    sql: `insert into usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line, role, tier, capped, id)
          select tenant_id, posting_seq, 1, 1, 0, 1, 99, 'h', 'h', false, 'small-7' from usage_records limit 1`,
  },
  {
    rule: 'sums of usage are those of the records',
    says: /by room, all: \d+ \d+/,
    answers: [/group_by=room&/, (body) => body.sum.seconds++],
  },
  {
    rule: 'sums of usage are those of the records',
    says: /by tier, audio: 2 /,
    answers: [/group_by=tier/, (body) => body.rows.find((row: Fields) => row.tier === 'audio').records++],
  },
  {
    rule: 'the billing page is the ledger',
    says: /has \d+, and is shown \d+/,
    answers: [/^\/v1\/billing$/, (body) => body.balance.micros++],
  },
  ...(
    [
      [/the closing of t_\w+ in \S+: \d+, and is/, (statement: Fields) => statement.closing.micros++],
      [/the opening of t_\w+ in \S+: 1, and is 0/, (statement: Fields) => statement.opening.micros++],
      [
        /payments of t_\w+ in \S+: 1 of \d+, and is 2 of/,
        (statement: Fields) => statement.payments.entries.pop(),
      ],
      [
        /adjustments of t_\w+ in \S+: 1 of 8, and is 1 of 7/,
        (statement: Fields) => statement.adjustments.sum.micros++,
      ],
      [/the usage of t_\w+ in \S+: 7 of/, (statement: Fields) => statement.usage.sum.records++],
      [
        /the month of t_\w+ in \S+: 2020-01, and is/,
        (statement: Fields) => Object.assign(statement, { month: '2020-01' }),
      ],
      [
        /the tenant of t_\w+ in \S+: t_other, and is/,
        (statement: Fields) => Object.assign(statement.tenant, { id: 't_other' }),
      ],
      [
        /the time of t_\w+ in \S+: 2020-01-01 /,
        (statement: Fields) => Object.assign(statement, { from: '2020-01-01' }),
      ],
    ] as const
  ).map(
    ([says, change]): Planted => ({
      rule: 'the statement of each month is the ledger',
      says,
      answers: [/^\/v1\/statements\//, ({ statement }) => change(statement)],
    }),
  ),
  {
    rule: 'the statement of each month is the ledger',
    says: new RegExp(`the closing of t_\\w+ in ${BEFORE}: 0, and is \\d+`),
    sql: `update postings set at = at - interval '1 month' where seq <= 2`,
    answers: [/^\/v1\/statements\//, () => {}, { statement: nothingIn(BEFORE) }],
  },
  {
    rule: 'the list of statements has each month that is over',
    says: new RegExp(`t_\\w+ has ${BEFORE} 0 \\d+, and is shown $`),
    sql: `update postings set at = at - interval '1 month' where seq <= 2`,
  },
  {
    rule: 'the CSV of the ledger is its pages',
    says: /has \d+ lines of \d+/,
    answers: [LEDGER, (body) => body.entries?.splice(2, 1)],
  },
  {
    rule: 'the CSV of the console is the pages of the ledger',
    says: /has \d+ lines of \d+/,
    answers: [LEDGER, (body) => body.entries?.splice(2, 1)],
  },
];

const PROVIDER: readonly Planted[] = [
  {
    rule: 'each payment at the provider is credited once, with what was taken back',
    says: /pi_lost should be 50000000 less 0 of t_\w+, and is nothing/,
    journal: added('provider.charged', ({ args }) =>
      Object.assign(args, { payment: 'pi_lost', amount: 5000 }),
    ),
  },
  {
    rule: 'each payment at the provider is credited once, with what was taken back',
    says: /should be 50000000 less 7000000 of t_\w+, and is 50000000 less 6000000/,
    sql: 'update payments set reversed = 6000000 where reversed > 0',
  },
  {
    rule: 'each payment at the provider is credited once, with what was taken back',
    says: /should be 50000000 less 17000000/,
    journal: added('provider.refunded', (entry) => {
      entry.op = 'provider.disputed';
      Object.assign(entry.args, { dispute: 'dp_1', amount: 2000, moved: -1000 });
    }),
  },
  {
    rule: 'each credit was paid at the provider',
    says: /\d+ of t_\w+ by pi_\w+, which the provider does not know/,
    journal: without('provider.charged'),
  },
  {
    rule: 'a payment has its postings',
    says: /pi_\w+ of t_\w+ has 0 credits/,
    sql: `update postings set payment_id = 'pi_other' where kind = 'top_up'`,
  },
  {
    rule: 'a top-up charges the card once',
    says: /tu_\w+ of t_\w+ charged the card 2 times/,
    journal: (entries) => {
      const topUp = entries.find(({ args }) => args.metadata?.attempt !== undefined)!;
      return [...entries, { ...topUp, args: { ...topUp.args, payment: 'pi_again' } }];
    },
  },
  ...(
    [
      [/pi_\w+ of t_\w+ was paid by no one/, without('checkout.paid')],
      [
        /pi_\w+ was paid by t_other, for t_\w+/,
        changed('checkout.paid', ({ args }) => Object.assign(args, { tenant: 't_other' })),
      ],
      [
        /pi_\w+ of t_other charged cus_\w+, a customer of t_\w+/,
        added('provider.charged', ({ args }) =>
          Object.assign(args, { payment: 'pi_other', metadata: { tenant: 't_other', attempt: 'tu_other' } }),
        ),
      ],
      [
        /pi_\w+ of t_\w+ took 5000 cents, of a page for 500/,
        changed('checkout.create', ({ args }) => Object.assign(args, { amount_cents: 500 })),
      ],
      [
        /tu_\w+ of t_\w+ took 2000 cents, which it never set/,
        changed('auto_top_up.set', ({ args }) => Object.assign(args, { amount_cents: 200 })),
      ],
    ] as const
  ).map(([says, journal]) => ({
    rule: 'who paid is who is credited, with what was asked for',
    says,
    journal,
  })),
];

const SENT = 'a top-up is sent while it is on, for a card that paid, below its threshold';

/** Top-ups are turned off right after they were turned on. `afterUs`: when the answer comes; `null`: none does. */
const turnedOff = (afterUs: number | null) => (entries: readonly Entry[]) => {
  const { op, args, returnedUs } = entries.find((each) => each.op === 'auto_top_up.set')!;
  const times = [returnedUs! + 1, afterUs && returnedUs! + afterUs] as const;
  return [...entries, entry(op, { ...args, enabled: false, idempotency: 'off' }, times)];
};

const TOP_UPS: readonly Planted[] = [
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was sent while top-ups were off/,
    journal: turnedOff(2),
    sql: LATER,
  },
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was sent while top-ups were off/,
    journal: without('auto_top_up.set'),
  },
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was sent for 20000000, which was not set/,
    journal: changed('auto_top_up.set', ({ args }) => Object.assign(args, { amount_cents: 200 })),
  },
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was sent, though the balance was \d+/,
    journal: changed('auto_top_up.set', ({ args }) => Object.assign(args, { below_cents: 1 })),
  },
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was sent, and no card had paid/,
    journal: without('checkout.paid'),
  },
  {
    rule: SENT,
    says: /tu_\w+ of t_\w+ was paid, and never sent/,
    sql: 'update top_up_attempts set first_sent_at = null',
  },
  {
    rule: 'a top-up that is due comes',
    says: /2 of t_\w+ left \d+, and no top-up came/,
    sql: `${LATER}; delete from top_up_attempts`,
  },
];

const BUDGETS: readonly Planted[] = (
  [
    [/lobby of t_\w+ has spent (\d+), its usage cost (?!\1$)\d+/, 'spent = spent + 1'],
    [/lobby of t_\w+ has spent 0, its usage cost [1-9]/, 'spent = 0'],
    [/lobby of t_\w+ has spent [1-9]\d*, its usage cost 0/, `room = 'stage'`],
    [/lobby of t_\w+ has spent \d+, its usage cost \d{4}/, 'room = null'],
    [/lobby of t_\w+ has spent [1-9]\d*, its usage cost 0/, `period_start = now() + interval '1 day'`],
  ] as const
).map(([says, change]) => ({
  rule: 'what a budget has spent is the usage that counts',
  says,
  sql: `update budgets set ${change} where id = 'lobby'`,
}));

const quoted = (text: unknown) => `'${text}'`;
const signedUp = () => campaign.tenant.key;

const SECRETS: readonly Planted[] = (
  [
    [
      /the API key of t_\w+ is in \d rows of rooms/,
      () => `update rooms set metadata = ${quoted(`with ${signedUp()}.`)}`,
    ],
    [
      /the API key of t_\w+ is in 1 rows of tenants/,
      () => `update tenants set name = ${quoted(signedUp().slice(21))} where exempt`,
    ],
    [
      /the API key of t_\w+ is in \d rows of api_keys/,
      () => `update api_keys set hash = convert_to(${quoted(signedUp())}, 'UTF8')`,
    ],
    [
      /the secret of a webhook of t_\w+ is in \d rows of webhook_endpoints/,
      () => {
        const { answer } = campaign.journal.find(({ op }) => op === 'webhook.create')!;
        return `update webhook_endpoints set description = ${quoted((answer as Fields).secret)}`;
      },
    ],
  ] as const
).map(([says, sql]) => ({ rule: 'no table has a secret in plain text', says, sql }));

const OPEN_ENDS: readonly Planted[] = [
  {
    rule: 'no top-up is open for ever',
    says: /tu_\w+ of t_\w+ is pending since/,
    sql: `update top_up_attempts set state = 'pending', finished_at = null`,
  },
  {
    rule: 'a tenant has one open top-up at the most',
    says: /tu_other of t_\w+ was sent before tu_\w+ had ended/,
    sql: `insert into top_up_attempts (id, tenant_id, amount, state, first_sent_at, finished_at)
          select 'tu_other', tenant_id, amount, state, finished_at, finished_at from top_up_attempts`,
  },
  {
    rule: 'no hold of a budget is kept for ever',
    says: /stage d of t_\w+ until/,
    sql: `insert into budget_holds (tenant_id, room, username, device, key_id, rate, seconds, until, budgets)
          select id, 'stage', 'ann', 'd', 'k', 1, 1, now() - interval '1 day', '{}' from tenants limit 1`,
  },
  {
    rule: 'what a budget holds are its holds',
    says: /lobby of t_\w+ holds 5, its holds are 0/,
    sql: 'update budgets set held = 5',
  },
  {
    rule: 'a hard budget has left what is neither spent nor held',
    says: /all of t_\w+ has \d+ left of 9000000/,
    sql: 'update budgets set free = free - 1',
  },
  {
    rule: 'no event waits for its number',
    says: /credit_spent of t_\w+ at/,
    sql: `insert into unnumbered_events (tenant_id, type, subject) select id, 'credit_spent', '{}' from tenants limit 1`,
  },
  {
    rule: 'no notice of the provider waits',
    says: /evt_failing is failing/,
    sql: `insert into provider_events (id, type, outcome, tries, tried_at) values ('evt_failing', 'x', 'failing', 1, now())`,
  },
  {
    rule: 'no erasure is under way',
    says: /er_\w+ of t_\w+ is pending/,
    sql: `update erasures set state = 'pending', name = 'x', finished_at = null`,
  },
];

const EVENTS: readonly Planted[] = [
  {
    rule: 'events are numbered without a gap',
    says: /has 3 where 2 should be/,
    sql: 'delete from events where seq = 2',
  },
  {
    rule: 'the list of events is the log',
    says: /1 \w+ of t_\w+ is not listed/,
    answers: [/^\/v1\/events/, (body) => body.events.shift()],
  },
  {
    rule: 'what was acknowledged is in the log, and nothing twice',
    says: /key.create \w+ of t_\w+ has 0 events, for 1 to 1 answers/,
    sql: `update events set type = 'key_retiring' where type = 'key_created'`,
  },
  {
    rule: 'what was acknowledged is in the log, and nothing twice',
    says: /kick \["kick","stage","ann"\] of t_\w+ has 2 events/,
    sql: `insert into events (tenant_id, seq, type, room_uid, subject)
          select tenant_id, seq + 1000, type, room_uid, subject from events where subject->>'action' = 'kick'`,
  },
  {
    rule: 'events are in the order in which they were acknowledged',
    says: /key.create \w+ of t_\w+ is \d+, and key.revoke \w+, which began later, \d+/,
    sql: `update events set seq = seq + 1000 where type = 'key_created'`,
  },
  {
    rule: 'a watchdog fires once',
    says: /wd_\w+ of t_\w+ is fired, and has told 2 times/,
    sql: `insert into events (tenant_id, seq, type, room_uid, subject)
          select tenant_id, seq + 1000, type, room_uid, subject from events where type = 'watchdog_fired'`,
  },
  ...(
    [
      [
        /wd_\w+ of t_\w+ was due \d+ s before the end/,
        `update watchdogs set state = 'armed'; update rooms set state = 'LIVE', ended_at = null where name = 'watched';
         update rooms set created_at = created_at - interval '5 minutes'; update watchdogs set created_at = created_at - interval '5 minutes';
         delete from events where type = 'watchdog_fired'`,
      ],
      [
        /wd_\w+ of t_\w+ was due 3\d\d s before its room ended/,
        `update watchdogs set state = 'disarmed'; update rooms set created_at = created_at - interval '5 minutes';
         update watchdogs set created_at = created_at - interval '5 minutes'; delete from events where type = 'watchdog_fired'`,
      ],
      [
        /wd_\w+ of t_\w+ is disarmed, and its room has not ended/,
        `update watchdogs set state = 'disarmed'; update rooms set state = 'LIVE', ended_at = null;
         delete from events where type = 'watchdog_fired'`,
      ],
      [
        /wd_\w+ of t_\w+ fired \d\.\d s early/,
        `update watchdogs w set looked_at = r.created_at + interval '0.5 s' from rooms r where r.uid = w.room_uid;
         update events e set at = r.created_at + interval '0.5 s' from rooms r where r.uid = e.room_uid and e.type = 'watchdog_fired'`,
      ],
      [
        /wd_\w+ of t_\w+ fired 3\d\d s late/,
        `update events set at = at + interval '5 minutes' where type = 'watchdog_fired'`,
      ],
      [
        /wd_\w+ of t_\w+ fired, and its room has not ended/,
        `update rooms set state = 'LIVE', ended_at = null where name = 'watched'`,
      ],
    ] as const
  ).map(([says, sql]) => ({ rule: 'a watchdog fires when it is due, and not before', says, sql })),
  {
    // It waited for as long as was stored, which is not what was asked for.
    rule: 'a watchdog fires when it is due, and not before',
    says: /wd_\w+ of t_\w+ fired 4\d\d\.\d s early/,
    journal: changed('watchdog.set', ({ args }) => Object.assign(args, { seconds: 500 })),
  },
  {
    rule: 'a watchdog that was set is there once',
    says: /watched of t_\w+ has 1 watchdogs, of which 0 were asked for/,
    journal: without('watchdog.set'),
  },
];

const STORED: readonly Planted[] = [
  ...(
    [
      ['key.create', 'delete from api_keys where revoked_at is not null'],
      ['key.revoke', 'update api_keys set revoked_at = null'],
      ['room.create', 'delete from rooms'],
      ['room.end', `update rooms set state = 'LIVE'`],
      ['watchdog.set', 'delete from watchdogs'],
      ['webhook.create', 'delete from webhook_endpoints'],
      ['budget.set', 'delete from budgets'],
      ['erasure.request', 'delete from erasures'],
      ['grant.create', 'delete from grants'],
    ] as const
  ).map(([op, sql]) => ({
    rule: 'what was acknowledged is stored',
    says: new RegExp(`${op.replace('.', '\\.')} [\\w-]+ of t_\\w+ was lost`),
    sql,
  })),
  {
    rule: 'no grant is given that was not made',
    says: /a-grant of t_\w+ is 3000001 for .*, and was asked for as 3000000 for/,
    sql: 'update grants set amount = amount + 1',
  },
  {
    rule: 'no grant is given that was not made',
    says: /a-grant of t_\w+ is 3000000 for .*, and was asked for as undefined/,
    journal: without('grant.create'),
  },
  ...(
    [
      [
        /a-grant of t_\w+ is .* for "other" until .*, and was asked for/,
        `update grants set reason = 'other'`,
      ],
      [
        /a-grant of t_\w+ is .* until (\S+), and was asked for .* until (?!\1$)/,
        `update grants set expires_at = expires_at + interval '1 day'`,
      ],
      [/and was posted as 3000000 for "other"/, `update postings set detail = 'other' where kind = 'grant'`],
      [/null of t_\w+ is null, and was posted as 3000000/, 'delete from grants'],
      [
        /a-grant of t_\w+ is .*, and was asked for as undefined/,
        'update grants set tenant_id = (select id from tenants where exempt)',
      ],
    ] as const
  ).map(([says, sql]) => ({ rule: 'no grant is given that was not made', says, sql })),
  ...(
    [
      [
        /00000000000000ff of t_\w+ is in api_keys/,
        'api_keys (id, tenant_id, name, kind, hash)',
        `'backend', sha256('x')`,
      ],
      [
        /00000000000000ff of t_\w+ is in device_credentials/,
        'device_credentials (id, tenant_id, name, publish, hash)',
        `'{}', sha256('x')`,
      ],
    ] as const
  ).map(([says, into, rest]) => ({
    rule: 'no key is there that was not asked for',
    says,
    sql: `insert into ${into} select '00000000000000ff', id, 'x', ${rest} from tenants where exempt`,
  })),
  {
    rule: 'no key is there that was not asked for',
    says: /\w{16} of t_\w+ is in api_keys, and was not asked for/,
    journal: without('key.create'),
  },
  {
    rule: 'no key is there that was not asked for',
    says: /\w{16} of t_\w+ is in api_keys, and was not asked for/,
    sql: 'update api_keys set tenant_id = (select id from tenants where exempt)',
  },
  ...(
    [
      ['/v1/billing', /^\/v1\/billing$/, (body: Fields) => body.tenant.auto_top_up.amount.micros++],
      ['/v1/alerts', /^\/v1\/alerts/, (body: Fields) => body.thresholds[0].below_micros++],
      ['/v1/budgets/all', /^\/v1\/budgets/, (body: Fields) => body.limit.micros++],
    ] as const
  ).map(([path, ...answers]) => ({
    rule: 'a setting is what the last acknowledged change made it',
    says: new RegExp(`${path} of t_\\w+ shows .*, and not \\[`),
    answers,
  })),
  {
    rule: 'an event that was read stays as it was',
    says: /1 of t_\w+ was evt_\w+ \w+ \S+, and is evt_other \w+/,
    answers: [/^\/v1\/events/, (body) => Object.assign(body.events[0], { id: 'evt_other' })],
  },
  {
    rule: 'a balance that was read was the balance at that time',
    says: /read \d+, between \d+ and \d+/,
    journal: changed('statement.read', ({ answer }) => answer.statement.closing.micros++),
  },
];

const atTheEnd = (entry: Fields) => Object.assign(entry, { invokedUs: 9e15, returnedUs: 9e15 });

const WEBHOOKS: readonly Planted[] = [
  {
    rule: 'a webhook gets each of its events',
    says: /\w+ 3 of t_\w+ never came to wh_/,
    journal: (entries) => entries.filter(({ args }) => (args.events?.[0] as Fields)?.seq !== 3),
  },
  {
    // It says that it gave the event up, and never tried.
    rule: 'a webhook gets each of its events',
    says: /\w+ 3 of t_\w+ never came to wh_/,
    journal: (entries) => entries.filter(({ args }) => (args.events?.[0] as Fields)?.seq !== 3),
    sql: 'update webhook_deliveries set gave_up = true where seq = 3',
  },
  {
    rule: 'no event waits for its webhook',
    says: /1 of t_\w+ for wh_\w+, from \d+ on/,
    sql: 'update webhook_cursors set seq = seq - 1',
  },
  {
    rule: 'an event is the same wherever it appears',
    says: /1 of t_\w+ is evt_\w+ \w+ \S+, and came to wh_\w+ as evt_other/,
    journal: changed('webhook.received', ({ args }) => Object.assign(args.events[0], { id: 'evt_other' }), 0),
  },
  {
    rule: 'an event is the same wherever it appears',
    says: /1 of t_\w+ is (evt_\w+ \w+) \S+, and came to wh_\w+ as \1/,
    answers: [/^\/v1\/events/, (body) => Object.assign(body.events[0].data, { further: true })],
  },
  {
    rule: 'a request to a webhook is signed, and named by its events',
    says: /evt_\w+ of t_\w+ came to wh_\w+ without its signature v1$/,
    journal: changed('webhook.received', ({ args }) => Object.assign(args, { verified: ['v1a'] }), 0),
  },
  {
    rule: 'a request to a webhook is signed, and named by its events',
    says: /evt_\w+ of t_\w+ came to wh_\w+ without its signature v1a$/,
    journal: changed('webhook.received', ({ args }) => Object.assign(args, { verified: ['v1'] }), 0),
  },
  {
    rule: 'a request to a webhook is as old as it says',
    says: /evt_\w+ came to \S+ 301 s after its timestamp/,
    journal: changed('webhook.received', ({ args }) => Object.assign(args, { ageSeconds: 301 }), 0),
  },
  {
    rule: 'a request to a webhook is signed, and named by its events',
    says: /evt_other of t_\w+ came to wh_\w+ with evt_/,
    journal: changed('webhook.received', ({ args }) => Object.assign(args, { id: 'evt_other' }), 0),
  },
  {
    rule: 'a request to a webhook is signed, and named by its events',
    says: /evb_\w+ of t_\w+ came to wh_\w+ with $/,
    journal: (entries) => {
      const { args } = entries.find((entry) => entry.args.isList)!;
      return repeated(entries, { args: { ...args, events: [] } });
    },
  },
  {
    rule: 'a webhook gets events in its order',
    says: /2 of t_\w+ came to wh_\w+ before it had accepted 1/,
    journal: changed('webhook.received', atTheEnd, 0),
  },
  {
    rule: 'a webhook gets events in its order',
    says: /\d+ of t_\w+ came to wh_\w+ before it had accepted 1/,
    journal: changed('webhook.received', atTheEnd, 0, BY_ROOM),
  },
  {
    rule: 'an event that was accepted does not come again',
    says: /\d+ of t_\w+ came to wh_\w+ again after it was accepted/,
    journal: (entries) => added('webhook.received', () => {})(ofWebhooks(entries)),
  },
  ...(
    [
      // In the order of the tenant, the next one was sent after it had been noted.
      [{ fault: 'PostgreSQL is killed', untilUs: HOUR_US }, 0, IN_ORDER],
      // It is in the log, which is written in one commit with the place.
      [{ fault: 'a connection of PostgreSQL is ended' }, -1, IN_ORDER, BOTH_NOTED],
      // Another service sent it.
      [{ fault: 'a service is killed', detail: 'second service' }, 0, BY_ROOM],
      // It was noted before the fault began, or the fault had passed.
      [{ fault: 'a service is killed', detail: 'first service', fromUs: 4e6, untilUs: 5e6 }, 0, BY_ROOM],
      [{ fault: 'a connection of PostgreSQL is ended', fromUs: -2e6, untilUs: -1e6 }, 0, BY_ROOM],
      // It took nothing from what was noted.
      [{ fault: 'a receiver of webhooks hangs up', untilUs: HOUR_US }, 0, BY_ROOM],
      [{ fault: 'the clock of a service is wrong', shiftMs: 9e5, untilUs: HOUR_US }, 0, BY_ROOM],
      [{ fault: 'the way to PostgreSQL carries nothing', detail: 'missed' }, 0, BY_ROOM],
      // A second more or less takes no lease.
      [{ fault: 'the clock of PostgreSQL is wrong', shiftMs: 1_000, untilUs: HOUR_US }, 0, BY_ROOM],
    ] as const
  ).map(([near, which, receiver, sql = NOT_NOTED]) => ({
    rule: 'an event that was accepted does not come again',
    says: /\d+ of t_\w+ came to wh_\w+ again after it was accepted/,
    sql,
    journal: (entries: readonly Entry[]) => repeatedNear(entries, near, which, receiver),
  })),
  {
    // One fault excuses what was under way, and no more.
    rule: 'an event that was accepted does not come again',
    says: /\d+ of t_\w+ came to wh_\w+ again after it was accepted/,
    sql: NOT_NOTED,
    journal: (entries) => {
      const requests = entries.filter(({ args }) => args.webhook === BY_ROOM);
      const copies = Array.from({ length: 21 }, (_, at) => ({
        ...requests[0]!,
        args: { ...requests[0]!.args, events: [{ id: `evt_${at}`, seq: 1_000 + at, type: 'x' }] },
      }));
      const twice = [...copies, ...copies].map((copy, at) => {
        const us = copy.invokedUs + at;
        return { ...copy, invokedUs: us, returnedUs: us };
      });
      const others = entries.filter(({ op }) => op === 'webhook.create');
      return [...others, ...twice, entry('fault', { name: 'a service is killed', begunUs: 0 }, [9e15, 9e15])];
    },
  },
  {
    rule: 'no attempt follows one that is known to have succeeded',
    says: /\d+ of t_\w+ was sent to wh_\w+ again/,
    sql: `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, status)
          select tenant_id, webhook_id, kind, event_id, seq, type, 2, 1, 204 from webhook_deliveries limit 1`,
  },
];

const PEOPLE: readonly Planted[] = [
  {
    // They are more than one regular expression of PostgreSQL can have.
    rule: 'no table has the name of an erased person',
    says: /person-1f3a9c77 is in \d rows of rooms/,
    sql: `update rooms set metadata = 'with ${PERSON}'`,
    journal: (entries) => [
      ...Array.from({ length: 3_000 }, (_, at) =>
        entry('erasure.request', { username: `a-stranger-among-many-${at}-` }, [1, 2]),
      ),
      ...entries,
    ],
  },
  {
    rule: 'no table has the name of an erased person',
    says: /person-1f3a9c77 is in \d rows of rooms/,
    sql: `update rooms set metadata = 'with ${PERSON}'`,
  },
  {
    rule: 'no view has the name of an erased person',
    says: /the ledger of t_\w+ has person-1f3a9c77/,
    answers: [LEDGER, (body) => Object.assign(body.entries[0], { detail: PERSON })],
  },
];

const ORDER: readonly Planted[] = [
  {
    rule: 'a revoked key is refused',
    says: /\w+ of t_\w+ was revoked; key.use began \d+ us after it/,
    journal: added('key.use', (entry) => Object.assign(entry, { outcome: 'ok', status: 200 })),
  },
  ...[
    { outcome: 'ok', status: 200 },
    // By gRPC.
    { outcome: 'ok', status: 0 },
    { outcome: 'refused', status: 7 },
  ].map((again) => ({
    rule: 'histories of keys are linearizable',
    says: /no order explains the \d+ operations of \w+/,
    journal: changed('key.use', (entry) => Object.assign(entry, again), 1),
  })),
  {
    rule: 'a token is signed, and bound to the device that asked',
    says: /a mint of ann of t_\w+ is bound to \{"jkt":"\S+"\}, and not \{"jkt":"other"\}/,
    journal: changed('mint', ({ args }) => Object.assign(args, { device: 'other' })),
  },
  {
    rule: 'histories of balances are linearizable',
    says: /no order explains the \d+ operations of t_/,
    journal: changed('billing.read', ({ answer }) => answer.balance.micros++, 1),
  },
  {
    rule: 'histories of rooms are linearizable',
    says: /no order explains the \d+ operations of t_\w+ stage/,
    journal: added('mint', () => {}),
  },
  {
    rule: 'a tenant reaches nothing of another one',
    says: /t_\w+ could revoke a key of t_/,
    journal: changed('trespass', (entry) => Object.assign(entry, { outcome: 'ok', status: 204 })),
  },
  {
    rule: 'a token says what was asked for',
    says: /a mint of t_\w+ stage ann \w+ got a token of t_\w+ stage bob/,
    journal: changed('mint', ({ answer }) => Object.assign(answer.claims, { sub: 'bob' })),
  },
  {
    rule: 'a token says what was asked for',
    says: /a mint of t_\w+ stage ann \w+ got a token for 901 s/,
    journal: changed('mint', ({ answer: { claims } }) => Object.assign(claims, { exp: claims.iat + 901 })),
  },
];

const BY_SUBJECT = {
  ...{ USAGE, MONEY, VIEWS, PROVIDER, TOP_UPS, OPEN_ENDS, BUDGETS, EVENTS, STORED },
  ...{ WEBHOOKS, PEOPLE, SECRETS, ORDER },
};

describe.skipIf(isCluster).each(Object.entries(BY_SUBJECT))('%s', (_, all) => {
  const possible = all.filter(({ rule }) => hasPorcupine() || !rule.startsWith('histories'));
  test.each(possible)('$rule: $says', { timeout: BUILD_MS_MAX }, async (planted) => {
    expect(await findPlanted(planted)).toContainEqual(expect.stringMatching(planted.says));
  });
});

const SECOND_US = 1_000_000;
const EXCUSES: readonly (readonly [what: string, near: Near, which: number, receiver: string])[] = [
  ['the service was killed', { fault: 'a service is killed', detail: 'first service' }, 0, BY_ROOM],
  [
    'a connection was ended',
    { fault: 'a connection of PostgreSQL is ended', fromUs: SECOND_US, untilUs: SECOND_US },
    0,
    BY_ROOM,
  ],
  [
    'nothing was noted in time',
    { fault: 'PostgreSQL stands still', fromUs: -9 * SECOND_US, untilUs: -4 * SECOND_US },
    0,
    BY_ROOM,
  ],
  [
    'the clock of PostgreSQL went on by seconds',
    { fault: 'the clock of PostgreSQL is wrong', shiftMs: 5_000, fromUs: -SECOND_US, untilUs: SECOND_US },
    ...([-1, IN_ORDER] as const),
  ],
  ['nothing of it is in the log', { fault: 'a connection of PostgreSQL is ended' }, -1, IN_ORDER],
];

test.skipIf(isCluster).each(EXCUSES)('if %s, an event may come again', async (_, near, which, receiver) => {
  const rule = 'an event that was accepted does not come again';
  const journal = (entries: readonly Entry[]) => repeatedNear(entries, near, which, receiver);
  expect(await findPlanted({ rule, says: /nothing/, sql: NOT_NOTED, journal })).toEqual([]);
});

test.skipIf(isCluster)('a watchdog may be due after the campaign had settled', async () => {
  const find = (settledAt: Date) =>
    findPlanted({
      ...{ rule: 'a watchdog fires when it is due, and not before', says: /nothing/ },
      sql: `update watchdogs set state = 'armed', created_at = created_at - interval '1 hour';
            update rooms set state = 'LIVE', ended_at = null, created_at = created_at - interval '1 hour';
            delete from events where type = 'watchdog_fired'`,
      journal: (entries) => [...entries, entry('settled', { at: settledAt.toISOString() }, [9e15, 9e15])],
    });
  expect(await find(new Date(Date.now() - 7_200_000))).toEqual([]);
  expect(await find(new Date())).not.toEqual([]);
});

test.skipIf(isCluster)('while answers of its service are late, an event may come again', async () => {
  const rule = 'an event that was accepted does not come again';
  const find = (seconds: number, service: number) =>
    findPlanted({
      ...{ rule, says: /nothing/, sql: NOT_NOTED },
      journal: (entries) => {
        const all = repeatedNear(entries, { fault: 'none' }, 0, BY_ROOM);
        const { invokedUs } = all.find(({ args }) => args.sender === 0)!;
        return [...all, entry('key.use', { service }, [invokedUs, invokedUs + seconds * SECOND_US])];
      },
    });
  expect(await find(3, 0)).toEqual([]);
  expect(await find(0.5, 0)).not.toEqual([]);
  expect(await find(3, 1)).not.toEqual([]);
});

test.skipIf(isCluster)('what stood still may send what it was about to send', async () => {
  const rule = 'an event that was accepted does not come again';
  const find = (detail: string) =>
    findPlanted({
      ...{ rule, says: /nothing/, sql: NOT_NOTED },
      journal: (entries) => {
        const all = repeatedNear(entries, { fault: 'a service stands still', detail, fromUs: HOUR_US }, 0);
        const { invokedUs } = all.at(-1)!;
        return all.map((each) =>
          each.op === 'fault' ? { ...each, returnedUs: invokedUs - SECOND_US } : each,
        );
      },
    });
  expect(await find('first service')).toEqual([]);
  expect(await find('second service')).not.toEqual([]);
});

test.skipIf(isCluster)('if the sender had gone before the answer, an event may come again', async () => {
  const rule = 'an event that was accepted does not come again';
  const gone = changed('webhook.received', ({ args }) => Object.assign(args, { mayBeLost: true }));
  const journal = (entries: readonly Entry[]) => {
    const all = gone(entries);
    return repeated(all, all.findLast(isInOrder)!);
  };
  expect(await findPlanted({ rule, says: /nothing/, journal })).toEqual([]);
});

test.skipIf(isCluster)('a request is as old as the clock of its service was wrong', async () => {
  const rule = 'a request to a webhook is as old as it says';
  const find = (shiftMs: number, detail = 'first service') =>
    findPlanted({
      ...{ rule, says: /nothing/ },
      journal: (entries) => [
        ...changed('webhook.received', ({ args }) => Object.assign(args, { ageSeconds: 1_000, sender: 0 }))(
          entries,
        ),
        entry(
          'fault',
          { name: 'the clock of a service is wrong', begunUs: 0, shiftMs, detail },
          [9e15, 9e15],
        ),
      ],
    });
  expect(await find(-900_000)).toEqual([]);
  expect(await find(-600_000)).not.toEqual([]);
  expect(await find(900_000)).not.toEqual([]);
  expect(await find(-900_000, 'second service')).not.toEqual([]);
});

test.skipIf(isCluster)(
  'an erasure excuses what was told of a person before it was done, and no more',
  async () => {
    const rule = 'what was acknowledged is in the log, and nothing twice';
    const find = (times: readonly [number, number]) =>
      findPlanted({
        ...{ rule, says: /nothing/ },
        sql: `update events set subject = jsonb_set(subject, '{subject,value}', '"(erased)"') where subject->>'action' = 'kick'`,
        journal: (entries) => {
          const { args, answer } = entries.find(({ op }) => op === 'erasure.request')!;
          const asked = entry(
            'erasure.request',
            { ...args, username: 'ann', idempotency: 'another' },
            times,
            { answer: answer! },
          );
          return [...entries, asked];
        },
      });
    expect(await find([0, 9e15])).toEqual([]);
    expect(await find([0, 1])).not.toEqual([]);
  },
);

const DUE = 'a top-up that is due comes';

/** What may be right is not told. */
const TOLERATED: Readonly<Record<string, Omit<Planted, 'says'>>> = {
  'a top-up that may not be turned off yet': { rule: SENT, sql: LATER, journal: turnedOff(null) },
  'no top-up, where they may be turned off': {
    rule: DUE,
    sql: `${LATER}; delete from top_up_attempts`,
    journal: turnedOff(null),
  },
  'no top-up after one that failed': {
    rule: DUE,
    sql: `${LATER}; update top_up_attempts set state = 'declined', finished_at = finished_at + interval '30 minutes'`,
  },
  'a budget that was made while a token was': {
    rule: 'what a budget has spent is the usage that counts',
    sql: `update budgets set spent = 0 where id = 'lobby'`,
    journal: added('mint', (entry) =>
      Object.assign(entry, { invokedUs: 1, args: { ...entry.args, room: 'lobby' } }),
    ),
  },
  'a key that was made without an answer': {
    rule: 'no key is there that was not asked for',
    sql: `insert into api_keys (id, tenant_id, name, kind, hash) select '00000000000000ff', id, 'x', 'relay', sha256('x')
            from tenants where not exempt`,
    journal: added('key.create', (entry) => {
      Object.assign(entry, { outcome: 'unknown', returnedUs: null, answer: undefined });
      entry.args.tenant = campaign.tenant.id;
    }),
  },
};

test.skipIf(isCluster).each(Object.entries(TOLERATED))('%s is tolerated', async (_, planted) => {
  expect(await findPlanted({ ...planted, says: /nothing/ })).toEqual([]);
});

test.skipIf(isCluster)(
  'no webhook is expected to get what happened after the campaign had settled',
  async () => {
    const lost = (settledAt: string) =>
      findPlanted({
        rule: 'a webhook gets each of its events',
        says: /nothing/,
        journal: (entries) => [
          ...entries.filter(({ args }) => (args.events?.[0] as Fields)?.seq !== 3),
          entry('settled', { at: settledAt }, [9e15, 9e15]),
        ],
      });
    expect(await lost('2020-01-01T00:00:00.000Z')).toEqual([]);
    expect(await lost(new Date().toISOString())).not.toEqual([]);
  },
);

test.skipIf(isCluster)('what is found while something goes on is looked for again', async () => {
  const { journal, reads } = campaign;
  let looks = 0;
  const goingOn: Rule = {
    name: 'an event is numbered while it looks',
    check: async (_, look) => {
      looks += 1;
      if (looks > 1) return;
      look.wrong('it is not listed');
      await app.database.pool.query('update event_streams set last_seq = last_seq + 1');
    },
  };
  const check = () => checkCampaign({ journal, databaseUrl: app.database.url, reads }, [goingOn]);
  expect([await check(), looks]).toMatchObject([{ problems: [] }, 2]);
});

/** The problems of the planted fault's rule, in a transaction that is undone. */
async function findPlanted({ rule, sql, journal, answers }: Planted): Promise<readonly string[]> {
  const entries = journal ? journal(campaign.journal) : campaign.journal;
  const client = new pg.Client({ connectionString: app.database.url });
  await client.connect();
  try {
    await client.query(`begin isolation level repeatable read; set local timezone = 'UTC'`);
    if (sql) await client.query(typeof sql === 'string' ? sql : sql());
    const reads = answers ? withChange(campaign.reads, ...answers) : campaign.reads;
    const facts = new Facts(await readJournal(entries), new Database(client), reads);
    const wanted = ALL_RULES.filter(({ name }) => name === rule);
    expect(wanted).toHaveLength(1);
    return (await runRules(wanted, facts)).problems;
  } finally {
    await client.end();
  }
}

function withChange(reads: Reads, path: RegExp, change: (body: Fields) => unknown, instead?: Fields): Reads {
  return {
    ...reads,
    get: async (tenant, asked) => {
      const body = await reads.get(tenant, asked).catch((error) => instead ?? Promise.reject(error));
      if (path.test(asked)) change(body);
      return body;
    },
  };
}
