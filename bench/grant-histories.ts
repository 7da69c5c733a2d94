/** Random histories of grants, written straight into the tables, and compared with a model at several times. */
import type { Db } from '../src/base/db/pool.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { readLots } from '../src/money/grants/read-lots.ts';
import { findPostedBalance } from '../src/money/ledger/posted-balance.sql.ts';
import { type Happening, type Lot, walletAt } from '../test/money/grants/wallet.ts';
import { seeded } from '../test/support/seeded.ts';

const START = Date.parse('2026-01-01');
const DAY_MS = 86_400_000;
const STEPS_MAX = 24;
const TIMES = 3;

interface Posting {
  readonly tenant_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly balance_before: string;
  readonly amount: string;
  readonly at: string;
  readonly reference: string | null;
}

interface GrantRow {
  readonly tenant_id: string;
  readonly seq: number;
  readonly id: string;
  readonly amount: string;
  readonly granted_at: string;
  readonly expires_at: string | null;
  ended_at: string | null;
  ended_by: 'expired' | 'voided' | null;
  last_seq: number | null;
  end_seq: number | null;
  forfeited: string;
}

/** A ledger in the making. Operations end what has ended first, as those of the service do. */
export class GrantHistory {
  readonly tenant: TenantId;
  readonly happenings: Happening[] = [];
  readonly postings: Posting[] = [];
  readonly grants: GrantRow[] = [];
  readonly #random: () => number;
  #balance = 0n;
  day = 0;

  constructor(seed: number) {
    this.tenant = BigInt(seed) as TenantId;
    this.#random = seeded(seed);
    const steps = 4 + this.#below(STEPS_MAX - 4);
    for (let step = 0; step < steps; step += 1) this.#act();
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #act(): void {
    const { day } = this;
    const dice = this.#below(16);
    if (dice < 5) this.#change('usage', BigInt(1 + this.#below(20)));
    else if (dice < 7) this.#change('paid', BigInt(this.#below(31) - 15));
    else if (dice < 11) this.#grant();
    else if (dice < 12) this.#void();
    else if (dice < 14) this.day += 1 + this.#below(3);
    else this.#end(day);
  }

  #change(what: 'usage' | 'paid', amount: bigint): void {
    this.happenings.push({ day: this.day, what, amount });
    if (what === 'usage') this.#post('usage', -amount);
    else this.#post('adjustment', amount);
  }

  #grant(): void {
    const { day } = this;
    this.#end(day);
    const amount = BigInt(1 + this.#below(20));
    const endDay = this.#below(4) === 0 ? undefined : day + 1 + this.#below(5);
    this.happenings.push({ day, what: 'grant', amount, endDay });
    const id = `gr_${this.tenant.toString(16).padStart(16, '0')}${String(this.grants.length).padStart(16, '0')}`;
    const { seq, at } = this.#post('grant', amount, id);
    const row = { tenant_id: String(this.tenant), seq, id, amount: String(amount), granted_at: at };
    const expires_at = endDay === undefined ? null : timeOf(endDay, 0);
    const open = { ended_at: null, ended_by: null, last_seq: null, end_seq: null, forfeited: '0' };
    this.grants.push({ ...row, expires_at, ...open });
  }

  #void(): void {
    this.#end(this.day);
    const grant = this.#below(this.grants.length || 1);
    const row = this.grants[grant];
    const lot = this.#lots()[grant];
    if (!row || !lot || row.ended_by || lot.left === 0n) return;
    this.#take(row, lot.left, 'voided', this.postings.length);
    this.happenings.push({ day: this.day, what: 'void', grant });
  }

  /** The job. What it takes was left at the end, whenever it comes. */
  #end(day: number): void {
    const lots = this.#lots();
    for (const [at, row] of this.grants.entries()) {
      const { endDay, forfeited } = lots[at]!;
      if (row.ended_by || forfeited === 0n || endDay === undefined || endDay > day) continue;
      const last = this.postings.findLast((posting) => posting.at < row.expires_at!)!;
      this.#take(row, forfeited, 'expired', last.seq);
    }
  }

  #take(row: GrantRow, amount: bigint, by: 'expired' | 'voided', lastSeq: number): void {
    const { seq, at } = this.#post(`grant_${by}`, -amount, row.id);
    const ending = { ended_at: at, ended_by: by, last_seq: lastSeq, end_seq: seq, forfeited: String(amount) };
    Object.assign(row, ending);
  }

  #lots(): readonly Lot[] {
    return walletAt(this.happenings, this.day + 0.5).lots;
  }

  #post(kind: string, amount: bigint, reference: string | null = null): Posting {
    const posting = {
      tenant_id: String(this.tenant),
      seq: this.postings.length + 1,
      kind,
      balance_before: String(this.#balance),
      amount: String(amount),
      at: timeOf(this.day, this.postings.length + 1),
      reference,
    };
    this.#balance += amount;
    this.postings.push(posting);
    return posting;
  }

  /** Throws if the service says something else than the model, at the last day and at some before. */
  async check(db: Db): Promise<void> {
    const days = Array.from({ length: TIMES }, () => this.#below(this.day + 1));
    for (const day of [...days, this.day + 0.5]) {
      const at = new Date(timeOf(day, 0));
      const { seq, balance } = await findPostedBalance(db, this.tenant, at);
      const { lots, granted } = await readLots(db, this.tenant, { at, seq });
      const { paid, lots: expected } = walletAt(this.happenings, day);
      const left = new Map(lots.map((lot) => [lot.id, lot.isOver ? 0n : lot.left]));
      const wrong = expected.findIndex((lot, index) => lot.left !== (left.get(this.grants[index]!.id) ?? 0n));
      if (wrong >= 0 || balance - granted !== paid) {
        throw new Error(
          `history ${this.tenant}, day ${day}: grant ${wrong}, ${balance - granted} paid, not ${paid}`,
        );
      }
    }
  }
}

/** In one statement for each table. */
export async function writeHistories(db: Db, histories: readonly GrantHistory[]): Promise<void> {
  await db.query(
    `with made as (
       insert into tenants (id, name, email) select unnest($1::bigint[]), 'history', 'a@example.com' returning id)
     insert into accounts (tenant_id) select id from made`,
    [histories.map(({ tenant }) => tenant)],
  );
  await db.query(
    `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, reference, rate_version,
                           rule_version, rounding, carry, records, newest_ids)
     select tenant_id, seq, kind, balance_before, amount, balance_before + amount, at, reference,
            case kind when 'usage' then 1 end, case kind when 'usage' then 1 end, case kind when 'usage' then 'c'::"char" end,
            case kind when 'usage' then 0 end, case kind when 'usage' then 1 end, case kind when 'usage' then '{id}'::text[] end
       from json_populate_recordset(null::postings, $1)`,
    [JSON.stringify(histories.flatMap(({ postings }) => postings))],
  );
  await db.query(
    `insert into grants (tenant_id, seq, id, amount, reason, granted_at, expires_at, ended_at, ended_by, last_seq, end_seq,
                         forfeited)
     select tenant_id, seq, id, amount, 'a gift', granted_at, expires_at, ended_at, ended_by, last_seq, end_seq, forfeited
       from json_populate_recordset(null::grants, $1)`,
    [JSON.stringify(histories.flatMap(({ grants }) => grants))],
  );
}

function timeOf(day: number, ms: number): string {
  return new Date(START + day * DAY_MS + ms).toISOString();
}
