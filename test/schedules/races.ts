/** Every planted race, and every scenario that must hold as the product is. */
import * as gather from '../../src/base/db/gather.ts';
import * as queue from '../../src/money/usage/charge-queue.ts';
import { CHARGE_RACES, CHARGE_SCENARIOS } from './races/charges.ts';
import { GATHER_FILE, GATHER_RACES, type GatherModule, questions } from './races/gather.ts';
import { HOLD_RACES, HOLD_SCENARIOS } from './races/holds.ts';
import { KEY_AND_ROOM_RACES, KEY_AND_ROOM_SCENARIOS } from './races/keys-and-rooms.ts';
import { LISTENER_RACES, LISTENER_SCENARIOS } from './races/listeners.ts';
import { batches, QUEUE_FILE, QUEUE_RACES, type QueueModule } from './races/queue.ts';
import { TOP_UP_RACES, TOP_UP_SCENARIOS } from './races/top-ups.ts';
import { WEBHOOK_RACES, WEBHOOK_SCENARIOS } from './races/webhooks.ts';
import { playInProcess } from './support/in-process.ts';
import { importEdited } from './support/mutated.ts';
import type { Play, Race } from './support/scenario.ts';
import type { Stage } from './support/stage.ts';

const PLAY_GATHER = playInProcess(() => questions(gather));
const PLAY_QUEUE = playInProcess(() => batches(queue));

/** Each scenario, as it is played with the product. */
export const PLAYS: readonly (readonly [string, (stage: Stage) => Play])[] = [
  ...[
    ...CHARGE_SCENARIOS,
    ...HOLD_SCENARIOS,
    ...LISTENER_SCENARIOS,
    ...KEY_AND_ROOM_SCENARIOS,
    ...TOP_UP_SCENARIOS,
    ...WEBHOOK_SCENARIOS,
  ].map((scenario) => [scenario.name, (stage: Stage) => scenario.on(stage)] as const),
  ['questions that are gathered', () => PLAY_GATHER],
  ['batches that wait', () => PLAY_QUEUE],
];

const RACES_ON_STAGE: readonly Race[] = [
  ...CHARGE_RACES,
  ...HOLD_RACES,
  ...LISTENER_RACES,
  ...KEY_AND_ROOM_RACES,
  ...TOP_UP_RACES,
  ...WEBHOOK_RACES,
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
  ...RACES_ON_STAGE.map(({ scenario, rewrites, ...race }) => ({
    ...race,
    play: (stage: Stage) => scenario.on(stage),
    plant: async (stage: Stage) => {
      stage.plant(rewrites);
      return scenario.on(stage);
    },
  })),
  ...GATHER_RACES.map(({ name, edit }) => ({
    ...{ name, part: 'gather', play: () => PLAY_GATHER },
    plant: async () => {
      const module = await importEdited<GatherModule>(GATHER_FILE, edit);
      return playInProcess(() => questions(module));
    },
  })),
  ...QUEUE_RACES.map(({ name, edit }) => ({
    ...{ name, part: 'charge queue', play: () => PLAY_QUEUE },
    plant: async () => {
      const module = await importEdited<QueueModule>(QUEUE_FILE, edit);
      return playInProcess(() => batches(module));
    },
  })),
];
