/**
 * Tell a tenant of the disputes and fraud warnings of a payment, and how they ended.
 *
 * The provider reports a dispute several times, in any order, and sometimes before its payment is credited. So the
 * rows say what was told.
 */
import type { Tx } from '../../base/db/pool.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { NewEvent } from '../../events/event.ts';
import type { Payment } from '../payments/payment.ts';
import { paymentDisputeClosed, paymentDisputed } from './reversal-events.ts';
import { takeUntoldDisputes, takeUntoldWarnings, type UntoldDispute } from './reversals.sql.ts';

/** The account must be locked. */
export async function tellDisputes(tx: Tx, payment: Payment): Promise<void> {
  const { id: paymentId, credited, tax } = payment;
  const disputes = await takeUntoldDisputes(tx, paymentId);
  const warnings = await takeUntoldWarnings(tx, paymentId);
  await appendEvents(tx, payment.tenant, [
    ...warnings.map(({ id, reason }) =>
      paymentDisputed({ paymentId, kind: 'fraud_warning', reference: id, amount: credited + tax, reason }),
    ),
    ...disputes.flatMap((dispute) => eventsOf(paymentId, dispute)),
  ]);
}

function eventsOf(paymentId: string, dispute: UntoldDispute): NewEvent[] {
  const { id: reference, amount, reason, inquiry, wasTold, outcome, outcomeTold } = dispute;
  const kind = inquiry ? 'inquiry' : 'dispute';
  return [
    ...(wasTold ? [] : [paymentDisputed({ paymentId, kind, reference, amount, reason })]),
    ...(outcome && outcome !== outcomeTold ? [paymentDisputeClosed({ paymentId, reference, outcome })] : []),
  ];
}
