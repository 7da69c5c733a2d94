/** The payment provider is away, fails before or after it has charged, and delivers its events twice, late, or not at all. */
import type { Fault as SandboxFault } from '../../sandbox/faults.ts';
import type { PaymentProvider } from '../stage/provider.ts';
import type { Fault } from './fault.ts';

const lane = 'provider';

/** Faults that have not happened when their time is over are dropped. */
function told(name: string, weight: number, ...faults: readonly SandboxFault[]): Fault {
  return {
    name,
    lane,
    weight,
    seconds: [0.5, 3],
    happen: async ({ provider: { control } }) => {
      for (const fault of faults) control.fault(fault);
      const asked = countLeft(control);
      return () => {
        const left = countLeft(control);
        control.clearFaults();
        return left < asked;
      };
    },
  };
}

/** Calls and events that are still to be disturbed. */
function countLeft(control: PaymentProvider['control']): number {
  return control.waitingFaults().reduce((sum, { count }) => sum + count, 0);
}

const CHARGE = { method: 'POST', path: '/v1/payment_intents' };

export const PROVIDER: readonly Fault[] = [
  {
    name: 'the provider is away',
    lane,
    weight: 2,
    seconds: [0.5, 5],
    happen: async ({ places }) => {
      for (const { toProvider } of places) toProvider.refuse();
      return () => places.map(({ toProvider }) => toProvider.mend()).includes(true);
    },
  },
  told('the provider charges and then fails', 3, { ...CHARGE, effect: 'commit_then_500' }),
  told('the provider charges and then hangs up', 3, { ...CHARGE, effect: 'commit_then_reset' }),
  told('the provider charges and answers a part', 2, { ...CHARGE, effect: 'truncate_body' }),
  told('the provider tells of a charge before it answers', 2, { ...CHARGE, effect: 'webhook_first' }),
  told('the provider fails', 2, { effect: 'fail_500', count: 3 }),
  told('the provider fails for every repetition', 0.5, { ...CHARGE, effect: 'keep_500' }),
  told('the provider limits calls', 2, { effect: 'rate_limit_429', count: 5 }),
  told('the provider is slow', 2, { effect: 'slow', ms: 2_000, count: 5 }),
  told('the provider opens a page and then fails', 2, {
    method: 'POST',
    path: '/v1/checkout/sessions',
    effect: 'commit_then_500',
  }),
  told('events of the provider come twice', 2, { effect: 'repeat', times: 3, count: 5 }),
  told('events of the provider come late', 2, { effect: 'delay', ms: 4_000, count: 5 }),
  told('events of the provider get lost', 1, { effect: 'drop', count: 2 }),
  told('events of the provider are signed by another', 1, { effect: 'corrupt_signature', count: 2 }),
];
