/** The order of test files: project by project, and in each the slow ones first, so that none is left over at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest first. A worker serves one project: where files of two take turns, each turn loads the service again. */
const PROJECTS = ['one server', 'step forms', 'archived'];

/** Ten seconds or more each: first those that mostly wait, for processes and time limits. */
const SLOW = [
  'deploy/ha.test',
  // Whatever else compiles Rust waits for it.
  'sdk/rust.test',
  'sdk/conformance.test',
  'sdk/go.test',
  'sdk/python.test',
  'upgrade/upgrade.test',
  'outward/webhooks/deliveries.kill',
  'outward/webhooks/side-by-side',
  'outward/webhooks/dead-letters',
  'faults/short',
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
  'schedules/schedules',
  'money/grants/histories',
  'doors/rest/event-stream',
  'doors/console/session-ends',
  'money/records/archive-records.test',
  'doors/rest/other-tenants',
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
  'outward/webhooks/webhook-body',
  'money/ledger/walk-ledger',
  'money/records/archive-records.races',
  'control/admission/admit.test',
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
    const projectOf = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => projectOf(a) - projectOf(b) || placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const index = SLOW.findIndex((name) => moduleId.includes(name));
  return index < 0 ? SLOW.length : index;
}
