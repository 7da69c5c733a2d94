/** A service of a campaign that does not start. */
import { expect, onTestFinished, test } from 'vitest';
import { Gone } from '../../faults/stage/gone.ts';
import { ServiceProcess } from '../../faults/stage/service-process.ts';
import { openScratch } from '../support/scratch.ts';

async function startWith(env: Readonly<Record<string, string>>): Promise<unknown> {
  const scratch = openScratch('boxoffice-faults-');
  const { folder } = scratch;
  const service = await ServiceProcess.reserve({
    ...{ name: 'service-0', folder, workers: 1, preloads: [], startMsMax: 8_000 },
    env: { LOG_LEVEL: 'info', ...env },
  });
  onTestFinished(async () => {
    await service.close();
    await scratch.remove();
  });
  return service.start().then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('starts that fail come to an end, which names the service and what it said last', async () => {
  const error = await startWith({ DATABASE_URL: 'nowhere' });
  expect(error).toBeInstanceOf(Gone);
  expect((error as Error).message).toMatch(/^service-0 did not start within 8 s; it said: .*DATABASE_URL/);
});

test('a start that takes too long is ended, and the last lines of its log are told', async () => {
  // It waits for a database that does not come.
  const error = await startWith({ DATABASE_URL: 'postgres://none:none@127.0.0.1:9/none' });
  expect(error).toBeInstanceOf(Gone);
  expect((error as Error).message).toMatch(/; its log ends with: .*database/);
});
