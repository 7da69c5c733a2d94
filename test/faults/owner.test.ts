/** Which process has sent a request to a receiver. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../faults/journal.ts';
import { findOwner } from '../../faults/stage/owner.ts';
import { Receivers } from '../../faults/stage/receivers.ts';
import { openScratch } from '../support/scratch.ts';

async function openReceivers(findSender: (port: number) => number | undefined) {
  const scratch = openScratch('boxoffice-faults-');
  const journal = new Journal(join(scratch.folder, 'journal.jsonl'));
  const receivers = await Receivers.open(journal, findSender);
  onTestFinished(async () => {
    receivers.close();
    await scratch.remove();
  });
  return { journal, receivers };
}

test('the process with the end of a connection is found, and no other one', async () => {
  const { receivers } = await openReceivers(() => undefined);
  const socket = connect(Number(new URL(receivers.url('/')).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const { port } = socket.address() as AddressInfo;
  expect(findOwner(port, [[1], [process.pid]])).toBe(1);
  expect(findOwner(port, [[1]])).toBeUndefined();
  expect(findOwner(1, [[process.pid]])).toBeUndefined();
});

test('a request is written down with its sender and its arrival, which is before a receiver hangs', async () => {
  const { journal, receivers } = await openReceivers((port) => (port > 0 ? 1 : undefined));
  receivers.set('/a', 'hang');
  const body = JSON.stringify({ id: 'evt_1', seq: 1, type: 'key.created' });
  await fetch(receivers.url('/a'), { method: 'POST', body });
  // It gives up while the receiver hangs.
  const gone = AbortSignal.timeout(500);
  await fetch(receivers.url('/a'), { method: 'POST', body, signal: gone }).catch(() => {});
  await expect.poll(() => journal.counts.get('webhook.received'), { timeout: 10_000 }).toBe(2);
  await journal.close();
  const [answered, left] = await entriesOf(journal);
  expect(answered!.args).toMatchObject({ sender: 1, answered: 204 });
  expect(answered!.args.mayBeLost).toBeUndefined();
  expect(answered!.invokedUs - answered!.args.arrivedUs).toBeGreaterThan(2_000_000);
  expect(left!.args.mayBeLost).toBe(true);
});

async function entriesOf({ path }: Journal) {
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
