/** What is left when everything is over. */
import type { Json } from '../driver.ts';
import { type Step, waitFor } from '../step.ts';

export const LEAKS: readonly Step[] = [
  {
    name: 'no task is left when all clients are closed',
    isAlone: true,
    run: async (at) => {
      // Connections that are kept for later calls are no leak.
      at.run.rest.cut();
      at.run.control.cut();
      const count = async (): Promise<Json> => (await at.driver.ask({ op: 'tasks' })).ok?.count;
      const atStart = at.run.tasksAtStart?.count;
      const left = await waitFor(count, (now) => typeof now !== 'number' || now <= atStart);
      return { isKnown: typeof left === 'number', isBack: left <= atStart };
    },
    expect: { isKnown: true, isBack: true },
  },
];
