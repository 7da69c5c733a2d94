/** Lets the clients of a plan do their steps. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan, PlannedClient } from '../plan.ts';
import { Client, type Shared } from './client.ts';

export interface Load {
  /** Resolves when every client has ended the step that was under way. */
  stop(): Promise<void>;
}

/** Resolves when all have begun. */
export async function startLoad(plan: Plan, shared: Shared): Promise<Load> {
  const stopping = new AbortController();
  for (const { number, tenant } of plan.clients.toReversed()) shared.tenants[tenant]!.firstNumber = number;
  const begun = await Promise.all(
    plan.clients.map(async (planned) => {
      const client = new Client(planned.number, shared.tenants[planned.tenant]!, shared);
      return { planned, act: await planned.kind.open(client) };
    }),
  );
  const running = begun.map(({ planned, act }) => run(planned, act, stopping.signal, shared));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

async function run(
  planned: PlannedClient,
  act: (step: unknown) => Promise<void>,
  stopping: AbortSignal,
  { givesUp, surprises }: Shared,
): Promise<void> {
  for (const { pauseMs, step } of planned.steps()) {
    await sleep(pauseMs, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted || givesUp.aborted) return;
    try {
      await act(step);
    } catch (error) {
      // It was answered what no client expects, such as that its key is wrong.
      if (!givesUp.aborted)
        surprises.push(`${planned.kind.name} ${planned.number}: ${(error as Error).message}`);
    }
  }
}
