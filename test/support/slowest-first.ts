/** The order of test files: slow ones first, so that none is left over at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ten seconds or more each, mostly waiting for processes and time limits. */
const SLOW = [
  'run/workers/workers',
  'run/embedded-postgres/embedded-postgres',
  'money/payments/run-top-up',
  'money/usage/charge-usage.faults',
  'doors/join/server',
  'doors/grpc/events',
  'doors/rest/hostile',
  'money/usage/charge-usage.kill',
  'sdk/relay/usage/reporter.kill',
  'base/idempotency/once.kill',
  'run/admin/',
  'doors/grpc/server',
  'scripts/setup',
  'control/watchdogs/deadline',
  'pages/checkout',
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
