/** The order of test files: slow ones first, so that none is left over at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ten seconds or more each: first those that mostly wait, for processes and time limits. */
const SLOW = [
  'deploy/ha.test',
  // Whatever else compiles Rust waits for it.
  'sdk/rust.test',
  'sdk/conformance.test',
  'sdk/go.test',
  'outward/webhooks/deliveries.kill',
  'run/workers/workers',
  'run/lifetime',
  'money/top-ups/run-top-up',
  'run/embedded-postgres/embedded-postgres',
  'scripts/setup',
  'money/usage/charge-usage.faults',
  'money/usage/charge-usage.locks',
  'doors/join/server',
  'sdk/relay/usage/reporter.kill',
  'doors/grpc/events',
  'control/revocations/revocation-feed',
  'money/usage/charge-usage.kill',
  'base/idempotency/once.kill',
  'doors/rest/hostile',
  'run/admin/',
  'sdk/relay/usage/reporter.service',
  'browser/',
  'relay/',
  'money/records/archive-records.kill',
  'money/grants/histories',
  'doors/console/session-ends',
  'access/keys/tell-retiring-keys.kill',
  'control/people/advance-erasures.kill',
  'outward/mail/console-mails.kill',
  'money/alerts/alerts.kill',
  'run/workers/operators',
  'doors/rest/idempotency',
  'doors/rest/keys.test',
  'doors/console/passkeys.test',
  'doors/grpc/server',
  'control/watchdogs/deadline',
  'scripts/mutants/trial',
  'doors/join/join',
  'doors/grpc/hostile',
  'money/provider-events/handle-event',
  'doors/grpc/moderation',
  'doors/rest/openapi',
  'control/streams/follow-events',
  'money/usage/charge-usage.test',
  'money/alerts/settle-alerts',
  'outward/webhooks/deliver-events',
  'doors/rest/usage-body',
  'money/payments/worker',
  'money/usage/charge-usage.memory',
  'doors/join/order',
  'outward/webhooks/webhook-worker',
  'money/records/known-ids/merge-runs',
  'money/statements/build-statement',
  'control/sessions/random-histories',
  'money/usage/charge-usage.batches',
  'money/reversals/tell-disputes',
  'money/records/archived-histories',
  'money/grants/end-grants.kill',
  'control/budgets/take-hold.kill',
  'doors/rest/ledger',
  'deploy/take-over',
  'deploy/point-in-time',
  'money/records/damaged-archive',
  'money/records/known-ids/id-hash',
  'money/usage/tell-conflicts.kill',
  'money/cards/saved-cards',
].map((name) => `/test/${name}`);

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = SLOW.findIndex((name) => moduleId.includes(name));
      return index < 0 ? SLOW.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
