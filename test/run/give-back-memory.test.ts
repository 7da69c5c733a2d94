import { expect, test } from 'vitest';
import { watchMemory } from '../../src/run/give-back-memory.ts';

const MB = 1024 * 1024;

/** A process that begins with 100 MB, and can give back all but what it needs. */
function open() {
  const state = { mb: 100, needed: 100, utilization: 0, shrunk: 0 };
  const look = watchMemory({
    rss: () => state.mb * MB,
    utilization: () => state.utilization,
    shrink: () => {
      state.shrunk += 1;
      state.mb = state.needed;
    },
  });
  return { state, look };
}

test('memory of a burst is given back once the process is hardly busy', () => {
  const { state, look } = open();
  Object.assign(state, { mb: 300, utilization: 0.9 });
  look();
  expect(state.shrunk).toBe(0);
  state.utilization = 0.1;
  look();
  look();
  expect(state).toMatchObject({ mb: 100, shrunk: 1 });
});

test('a process that grows a little, or needs what it took, is left alone', () => {
  const { state, look } = open();
  state.mb = 120;
  look();
  expect(state.shrunk).toBe(0);
  Object.assign(state, { mb: 200, needed: 190 });
  for (let looks = 0; looks < 5; looks += 1) look();
  expect(state).toMatchObject({ mb: 190, shrunk: 1 });
});
