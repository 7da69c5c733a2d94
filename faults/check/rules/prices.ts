/** Rules of prices: each is computed again, from what was measured, in exact fractions. */
import type { Facts, Ledger } from '../facts.ts';
import { Carry, exactPrice, PARTS, PARTS_OF_A_CARRY } from '../price.ts';
import type { Look, Rule } from '../rule.ts';
import type { ListedRecord } from '../views.ts';
import { batchesOf } from './ledger.ts';

export const PRICE_RULES: readonly Rule[] = [
  { name: 'a record costs its exact price and what rounding had left over', check: checkPrices },
  { name: 'what rounding leaves over is kept', check: checkCarries },
  { name: 'all charges are their exact sum, rounded once', check: checkExactSums },
];

interface Priced {
  readonly tenant: string;
  readonly record: ListedRecord;
  readonly parts: bigint;
  readonly isCapped: boolean;
  /** What it should cost. */
  readonly micros: bigint;
}

interface Kept {
  readonly where: string;
  readonly stored: bigint;
  readonly parts: bigint;
}

/** Prices of a ledger, and carries after each posting and of the account. */
async function priceAgain(facts: Facts, ledger: Ledger): Promise<{ prices: Priced[]; carries: Kept[] }> {
  const { tenant, postings, records } = ledger;
  const cards = await facts.cards;
  const prices: Priced[] = [];
  const carries: Kept[] = [];
  const ofTenant = new Carry();
  for (const { posting, records: batch } of batchesOf(postings, records)) {
    // What is not billed leaves nothing over for what is.
    const carry = posting.kind === 'unbilled' ? new Carry() : ofTenant;
    for (const record of batch) {
      const { role, tier, seconds, egress_bytes } = record;
      const measured = { role, tier, seconds: BigInt(seconds), egress: BigInt(egress_bytes) };
      const price = exactPrice(cards.get(posting.rateVersion!)!, measured);
      const micros = posting.rounding === 'r' ? new Carry().take(price) : carry.take(price);
      prices.push({ tenant, record, micros, ...price });
    }
    const where = `posting ${posting.seq} of ${tenant}`;
    carries.push({ where, stored: posting.carry! * PARTS_OF_A_CARRY, parts: carry.parts });
  }
  const stored = ledger.carry * PARTS_OF_A_CARRY;
  carries.push({ where: `the account of ${tenant}`, stored, parts: ofTenant.parts });
  return { prices, carries };
}

async function checkPrices(facts: Facts, look: Look): Promise<void> {
  for await (const ledger of facts.ledgers()) {
    for (const { record, tenant, micros, isCapped } of (await priceAgain(facts, ledger)).prices) {
      look.at();
      if (BigInt(record.total.micros) !== micros)
        look.wrong(`${record.id} of ${tenant} cost ${record.total.micros}, should cost ${micros}`);
      if (record.capped !== isCapped)
        look.wrong(`${record.id} of ${tenant} is ${record.capped ? '' : 'not '}capped`);
    }
  }
}

async function checkCarries(facts: Facts, look: Look): Promise<void> {
  for await (const ledger of facts.ledgers()) {
    for (const { where, stored, parts } of (await priceAgain(facts, ledger)).carries) {
      look.at();
      if (stored !== parts) look.wrong(`${where} keeps ${stored} of ${PARTS} parts, should keep ${parts}`);
    }
  }
}

/** However many records there are. */
async function checkExactSums(facts: Facts, look: Look): Promise<void> {
  for await (const ledger of facts.ledgers()) {
    if (ledger.postings.some(({ rounding }) => rounding === 'r')) continue;
    const billed = (await priceAgain(facts, ledger)).prices.filter(({ record }) => !record.unbilled);
    const charged = billed.reduce((sum, { record }) => sum + BigInt(record.total.micros), 0n);
    const exact = new Carry().take({ parts: billed.reduce((sum, { parts }) => sum + parts, 0n) });
    look.at();
    if (charged !== exact) look.wrong(`${ledger.tenant} was charged ${charged}, its usage costs ${exact}`);
  }
}
