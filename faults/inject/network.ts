/** What happens between a service and PostgreSQL. */
import type { Place, Stage } from '../stage/stage.ts';
import type { Choice, Fault, Lane } from './fault.ts';

type OnWay = Omit<Fault, 'lane' | 'happen'> & {
  readonly happen: (place: Place, choice: Choice) => () => boolean;
};

/** A statement has hundreds of bytes, and a charge of many records some thousands. */
const BYTES_MAX = 60_000;

const ROWS: readonly OnWay[] = [
  {
    name: 'a connection to PostgreSQL is cut at some byte',
    weight: 10,
    seconds: [0.2, 1],
    happen: ({ toDatabase }, { dice }) => {
      toDatabase.cutAtByte(Math.floor(dice ** 3 * BYTES_MAX));
      return () => toDatabase.mend();
    },
  },
  {
    name: 'the way to PostgreSQL carries nothing',
    weight: 4,
    seconds: [0.3, 4],
    happen: ({ toDatabase }) => {
      toDatabase.stall();
      return () => toDatabase.mend();
    },
  },
  {
    name: 'the way to PostgreSQL is slow',
    weight: 3,
    seconds: [0.5, 3],
    happen: ({ toDatabase }, { dice }) => {
      toDatabase.slow(Math.ceil(dice * 60));
      return () => toDatabase.mend();
    },
  },
  {
    name: 'the way to PostgreSQL is gone',
    weight: 2,
    seconds: [0.3, 3],
    happen: ({ toDatabase }) => {
      toDatabase.refuse();
      return () => toDatabase.mend();
    },
  },
  {
    name: 'what was under way on the way to PostgreSQL is lost',
    weight: 3,
    seconds: [0.5, 2],
    happen: ({ toDatabase }) => {
      toDatabase.stall();
      return () => {
        toDatabase.cutAll();
        return toDatabase.mend();
      };
    },
  },
  {
    name: 'a connection to the provider is cut at some byte',
    weight: 3,
    seconds: [0.5, 2],
    happen: ({ toProvider }, { dice }) => {
      toProvider.cutAtByte(Math.floor(dice * 3_000));
      return () => toProvider.mend();
    },
  },
  {
    name: 'the way to the provider carries nothing',
    weight: 2,
    // A call to it is given up after 6 seconds.
    seconds: [1, 8],
    happen: ({ toProvider }) => {
      toProvider.stall();
      return () => toProvider.mend();
    },
  },
];

const LANE_OF: readonly Lane[] = ['network of the first service', 'network of the second service'];

export const NETWORK: readonly Fault[] = LANE_OF.flatMap((lane, index) =>
  ROWS.map(({ happen, ...row }) => ({
    ...row,
    lane,
    happen: async (stage: Stage, choice: Choice) => happen(stage.places[index]!, choice),
  })),
);
