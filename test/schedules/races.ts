/** Every planted race, and every scenario that must hold as the product is. */
import { CHARGES } from './races/charges.ts';
import { GATHER } from './races/gather.ts';
import { HOLDS } from './races/holds.ts';
import { KEYS_AND_ROOMS } from './races/keys-and-rooms.ts';
import { LISTENERS } from './races/listeners.ts';
import { CHARGE_QUEUE } from './races/queue.ts';
import { TOP_UPS } from './races/top-ups.ts';
import { WEBHOOKS } from './races/webhooks.ts';
import type { Play } from './support/scenario.ts';
import type { Stage } from './support/stage.ts';

const ON_STAGE = [CHARGES, HOLDS, LISTENERS, ...KEYS_AND_ROOMS, TOP_UPS, WEBHOOKS];
const IN_PROCESS = [GATHER, CHARGE_QUEUE];

/** Each scenario, as it is played with the product. */
export const PLAYS: readonly (readonly [string, (stage: Stage) => Play])[] = [
  ...ON_STAGE.flatMap(({ scenarios }) => scenarios).map(({ name, on }) => [name, on] as const),
  ...IN_PROCESS.map(({ scenario, play }) => [scenario, () => play] as const),
];

/** A race, and how it is played once it is planted. */
export interface Planted {
  readonly name: string;
  readonly part: string;
  readonly wasReal?: true;
  /** With the product as it is. */
  play(stage: Stage): Play;
  plant(stage: Stage): Promise<Play>;
}

export const RACES: readonly Planted[] = [
  ...ON_STAGE.flatMap(({ part, races }) =>
    races.map(({ scenario, rewrite, ...race }) => ({
      ...race,
      part,
      play: scenario.on,
      plant: async (stage: Stage) => {
        stage.plant(rewrite);
        return scenario.on(stage);
      },
    })),
  ),
  ...IN_PROCESS.flatMap(({ part, play, races }) =>
    races.map((race) => ({ ...race, part, play: () => play })),
  ),
];
