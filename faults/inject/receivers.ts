/** Receivers of webhooks refuse, cut connections, or take their time. */
import type { Manner } from '../stage/receivers.ts';
import type { Fault } from './fault.ts';

function behave(name: string, manner: Manner, weight: number, seconds: readonly [number, number]): Fault {
  return {
    name,
    lane: 'receivers',
    weight,
    seconds,
    happen: async ({ receivers }, { dice }) => {
      const { paths } = receivers;
      const path = paths[Math.floor(dice * paths.length)]!;
      const before = receivers.countDisturbed(path);
      receivers.set(path, manner);
      return () => {
        receivers.set(path, 'accept');
        return receivers.countDisturbed(path) > before;
      };
    },
  };
}

export const RECEIVERS: readonly Fault[] = [
  behave('a receiver of webhooks refuses', 'refuse', 3, [0.5, 4]),
  behave('a receiver of webhooks hangs up', 'cut off', 3, [0.5, 4]),
  behave('a receiver of webhooks hangs', 'hang', 1, [1, 5]),
];
