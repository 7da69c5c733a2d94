import { describe, expect, test } from 'vitest';
import { renameTenant } from '../../../src/access/operators/rename-tenant.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { renderStatementCsv } from '../../../src/doors/http/statement-csv.ts';
import { renderStatementPage } from '../../../src/doors/http/statement-page.ts';
import { type Month, startOf } from '../../../src/money/month.ts';
import {
  type BillingDetails,
  NO_DETAILS,
  renderDetails,
} from '../../../src/money/statements/billing-details.ts';
import { buildStatement } from '../../../src/money/statements/build-statement.ts';
import { readStatement } from '../../../src/money/statements/read-statement.ts';
import { setBillingDetails } from '../../../src/money/statements/set-billing-details.ts';
import { digestOf, textOf } from '../../../src/money/statements/statement-document.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { SAMPLE } from './support.ts';

const DETAILS: BillingDetails = { name: '<Ada> GmbH', address: ['Am Kai 1', 'Hamburg'], taxId: 'DE1' };
const DETAILED = {
  ...SAMPLE,
  issuerDetails: { ...NO_DETAILS, name: 'Operator Ltd' },
  tenant: { ...SAMPLE.tenant, details: DETAILS },
};

describe('in a statement', () => {
  test('are read back as they were', () => {
    expect(readStatement(textOf(DETAILED))).toEqual(DETAILED);
    expect(digestOf(DETAILED)).not.toBe(digestOf(SAMPLE));
  });

  test.each([
    ['{}', 'it is not written as statements are'],
    ['{"address":[]}', 'it is not written as statements are'],
    ['{"address":[1]}', 'tenant/details/address/0 must be a text'],
    ['{"address":"a"}', 'tenant/details/address must be a list'],
    ['{"name":null}', 'tenant/details/name must be a text'],
    ['[]', 'it is not written as statements are'],
  ])('%s are none', (details, message) => {
    const given = '{"address":["Am Kai 1","Hamburg"],"name":"<Ada> GmbH","tax_id":"DE1"}';
    const text = textOf(DETAILED);
    expect(text).toContain(given);
    expect(() => readStatement(text.replace(given, details))).toThrow(message);
  });

  test('are on the page, and not in the CSV', () => {
    const page = renderStatementPage(DETAILED);
    for (const shown of ['Operator Ltd', '&lt;Ada&gt; GmbH', 'Am Kai 1', 'Tax id DE1']) {
      expect(page).toContain(shown);
    }
    expect(renderStatementPage(SAMPLE)).not.toContain('Issued');
    expect(renderStatementCsv(DETAILED)).toBe(renderStatementCsv(SAMPLE));
  });
});

describe('over time', () => {
  const app = useService({ payments: false });

  /** A tenant of four months ago. */
  async function withPast() {
    const tenant = await app.signUp();
    const id = idOf(tenant);
    const { db } = app.service.deps;
    await post(db, id, { kind: 'top_up', amount: 5n, reference: 'pi_1', paymentId: 'pi_1' });
    await moveInTime(db, id, [startOf(monthsAgo(4)).toISOString()]);
    const set = (details: Partial<BillingDetails>) =>
      inTransaction(db, (tx) => setBillingDetails(tx, OPERATOR, id, { ...NO_DETAILS, ...details }));
    const shownIn = async (month: Month) => {
      const { tenant } = await buildStatement(app.service.deps, id, month, { soFar: true });
      return renderDetails(tenant.details);
    };
    /** As if the change numbered `seq` had been made then. The table is append-only, for the service too. */
    const date = async (seq: number, at: Date) => {
      await db.query('alter table billing_details disable trigger append_only');
      await db.query('update billing_details set at = $3 where tenant_id = $1 and seq = $2', [id, seq, at]);
      await db.query('alter table billing_details enable trigger append_only');
    };
    return { id, set, shownIn, date };
  }

  test('a month that is over keeps what held at its end', async () => {
    const { set, shownIn, date } = await withPast();
    await set({ name: 'First' });
    await date(1, new Date(startOf(monthsAgo(2)).getTime() - 1));
    await set({ name: 'Second' });
    await date(2, startOf(monthsAgo(2)));
    await set({});
    await date(3, startOf(monthsAgo(1)));
    const before = [await shownIn(monthsAgo(3)), await shownIn(monthsAgo(2)), await shownIn(monthsAgo(1))];
    expect(before).toEqual([{ name: 'First' }, { name: 'Second' }, undefined]);

    await set({ name: 'Third', taxId: 'DE3' });
    expect([await shownIn(monthsAgo(3)), await shownIn(monthsAgo(2)), await shownIn(monthsAgo(1))]).toEqual(
      before,
    );
    expect(await shownIn(monthsAgo(0))).toEqual({ name: 'Third', tax_id: 'DE3' });
  });

  test('a month that is over keeps the name that the tenant had at its end', async () => {
    const { id } = await withPast();
    const { db } = app.service.deps;
    const rename = (name: string) =>
      inTransaction(db, (tx) => renameTenant(tx, OPERATOR, id, { name, reason: 'a merger' }));
    const build = (month: Month) => buildStatement(app.service.deps, id, month, { soFar: true });
    const nameIn = async (month: Month) => (await build(month)).tenant.name;
    const first = await nameIn(monthsAgo(3));
    const before = [await build(monthsAgo(3)), await build(monthsAgo(1))].map(digestOf);
    await rename('Second');
    expect([await build(monthsAgo(3)), await build(monthsAgo(1))].map(digestOf)).toEqual(before);
    expect(await nameIn(monthsAgo(0))).toBe('Second');
    await rename('Third');
    await db.query('alter table tenant_name_changes disable trigger append_only');
    await db.query(`update tenant_name_changes set at = $2 where tenant_id = $1 and new_name = 'Second'`, [
      id,
      startOf(monthsAgo(2)),
    ]);
    await db.query('alter table tenant_name_changes enable trigger append_only');
    const names = [await nameIn(monthsAgo(3)), await nameIn(monthsAgo(2)), await nameIn(monthsAgo(0))];
    expect(names).toEqual([first, 'Second', 'Third']);
  });

  test('a month without any shows the first ones that were given later', async () => {
    const { set, shownIn } = await withPast();
    expect(await shownIn(monthsAgo(2))).toBeUndefined();
    await set({ name: 'First' });
    await set({ name: 'Second' });
    expect(await shownIn(monthsAgo(2))).toEqual({ name: 'First' });
    expect(await shownIn(monthsAgo(0))).toEqual({ name: 'Second' });
  });

  test('twenty changes at once all count, one after the other', async () => {
    const { id, set, shownIn } = await withPast();
    await Promise.all(Array.from({ length: 20 }, (_, at) => set({ name: `Name ${at}` })));
    const { rows } = await app.service.deps.db.query<{ name: string }>(
      'select name from billing_details where tenant_id = $1 order by seq',
      [id],
    );
    expect(new Set(rows.map(({ name }) => name)).size).toBe(20);
    expect(await shownIn(monthsAgo(0))).toEqual({ name: rows.at(-1)!.name });
  });
});
