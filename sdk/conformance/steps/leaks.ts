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
      const ask = async (): Promise<Json> => (await at.driver.ask({ op: 'tasks' })).ok;
      const atStart = at.run.tasksAtStart?.count;
      const left = await waitFor(ask, (now) => typeof now?.count !== 'number' || now.count <= atStart);
      return { isKnown: typeof left?.count === 'number', isBack: left?.count <= atStart };
    },
    expect: { isKnown: true, isBack: true },
  },
];
