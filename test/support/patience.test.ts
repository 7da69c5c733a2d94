import { expect, it, vi } from 'vitest';

it('waits for longer than a second', async () => {
  const from = performance.now();
  const isLate = () => performance.now() - from > 1_200;
  await Promise.all([vi.waitFor(() => expect(isLate()).toBe(true)), vi.waitUntil(isLate)]);
});
