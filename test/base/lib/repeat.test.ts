import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { repeat } from '../../../src/base/lib/repeat.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const unexpected = (error: unknown) => {
  throw error;
};

describe('repeat', () => {
  it('runs the work at once and then at the interval', async () => {
    const work = vi.fn(async () => undefined);
    const repeating = repeat(10, work, unexpected);
    expect(work).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(work).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(work).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(work).toHaveBeenCalledTimes(4);
    await repeating.stop();
  });

  it('runs the first turn after a delay, or when woken', async () => {
    const work = vi.fn(async () => undefined);
    const delayed = repeat(10, work, unexpected, { delayMs: 300 });
    await vi.advanceTimersByTimeAsync(299);
    expect(work).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(work).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(work).toHaveBeenCalledTimes(2);
    await delayed.stop();

    const woken = repeat(10, work, unexpected, { delayMs: 300 });
    woken.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(3);
    await woken.stop();
  });

  it('stops before a delayed first turn, and leaves no timer', async () => {
    const work = vi.fn(async () => undefined);
    await repeat(10, work, unexpected, { delayMs: 300 }).stop();
    expect(work).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('runs one turn at a time, however long it takes', async () => {
    const turn = Promise.withResolvers<void>();
    const work = vi.fn(() => turn.promise);
    const repeating = repeat(1, work, unexpected);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(work).toHaveBeenCalledTimes(1);
    turn.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(2);
    await repeating.stop();
  });

  it('reports the error of a turn, and goes on', async () => {
    const fault = new Error('no luck');
    const onError = vi.fn();
    const repeating = repeat(1, () => Promise.reject(fault), onError);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(onError.mock.calls).toEqual([[fault], [fault], [fault]]);
    await repeating.stop();
  });

  it('runs at once when woken', async () => {
    const work = vi.fn(async () => undefined);
    const repeating = repeat(3600, work, unexpected);
    await vi.advanceTimersByTimeAsync(0);
    repeating.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(2);
    await repeating.stop();
  });

  it('runs another turn when woken during one', async () => {
    const turns = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = vi.fn(async () => turns[work.mock.calls.length - 1]?.promise);
    const repeating = repeat(3600, work, unexpected);
    repeating.wake();
    turns[0]!.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(2);
    turns[1]!.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(2);
    await repeating.stop();
  });

  it('stops after the current turn, and leaves no timer', async () => {
    const turn = Promise.withResolvers<void>();
    const work = vi.fn(() => turn.promise);
    const repeating = repeat(1, work, unexpected);
    let stopped = false;
    const stopping = repeating.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(stopped).toBe(false);
    turn.resolve();
    await stopping;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(work).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
