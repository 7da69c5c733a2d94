/** `/v1/payouts` and `/v1/balance_transactions` */
import { getRow } from '../actions/find.ts';
import { invalidRequest } from '../http/errors.ts';
import { optional, text } from '../http/params.ts';
import { renderBalanceTransaction } from '../objects/balance-transaction.ts';
import { renderPayout } from '../objects/payout.ts';
import { now } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, inRange, listPage, RANGE } from './list.ts';

export const payoutRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/payouts', handle: list },
  { method: 'GET', path: '/v1/payouts/:id', handle: retrieve },
  { method: 'GET', path: '/v1/balance_transactions', handle: listTransactions },
  { method: 'GET', path: '/v1/balance_transactions/:id', handle: retrieveTransaction },
];

function retrieve({ provider, id }: Call) {
  return renderPayout(getRow(provider, 'payouts', id));
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/payouts',
    rows: provider.state.all('payouts'),
    filters: { ...CREATED, arrival_date: RANGE, status: optional(text()) },
    keep: (payout, { arrival_date, status }) =>
      inRange(payout.arrivalDate, arrival_date) && (status === undefined || payout.status === status),
    render: renderPayout,
  });
}

function retrieveTransaction({ provider, id }: Call) {
  return renderBalanceTransaction(getRow(provider, 'balanceTransactions', id), now(provider));
}

/** The list of a payout also holds the payout's own transaction. */
function listTransactions({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/balance_transactions',
    rows: provider.state.all('balanceTransactions'),
    filters: {
      ...CREATED,
      currency: optional(text()),
      payout: optional(automaticPayout(provider)),
      source: optional(text()),
      type: optional(text()),
    },
    keep: (row, { currency, payout, source, type }) =>
      (currency === undefined || row.currency === currency) &&
      (payout === undefined || row.payout === payout) &&
      (source === undefined || row.source === source) &&
      (type === undefined || row.type === type),
    render: (row) => renderBalanceTransaction(row, now(provider)),
  });
}

function automaticPayout(provider: Call['provider']) {
  return (value: Parameters<ReturnType<typeof text>>[0], path: string): string => {
    const id = text()(value, path);
    if (getRow(provider, 'payouts', id, path).automatic) return id;
    throw invalidRequest('Balance transaction history can only be filtered on automatic payouts.', {
      param: path,
    });
  };
}
