import { expect, test } from 'vitest';
import { budgetConnections } from '../../src/run/connection-budget.ts';

test.each([
  [1, undefined, 20, 21],
  [2, undefined, 20, 46],
  [4, undefined, 20, 88],
  [5, undefined, 16, 89],
  [16, undefined, 5, 100],
  [64, undefined, 5, 388],
  [1, 6, 5, 6],
  [1, 21, 20, 21],
  // More than a process uses stays free.
  [1, 500, 20, 21],
  [2, 16, 5, 16],
  [2, 17, 5, 16],
  [2, 18, 6, 18],
  [16, 200, 11, 196],
])('%i processes with %s: %i for the pools of each, %i in all', (processes, max, ofEach, total) => {
  expect(budgetConnections(processes, max)).toStrictEqual({ ofEach, total });
});

test.each([
  [1, 5, 6],
  [2, 15, 16],
  [16, 99, 100],
])('%i processes are too many for %i', (processes, max, least) => {
  expect(() => budgetConnections(processes, max)).toThrow(
    `DATABASE_CONNECTIONS_MAX must be ${least} or more when WORKERS is ${processes}, not "${max}"`,
  );
});
