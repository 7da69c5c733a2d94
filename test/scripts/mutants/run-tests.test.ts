import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { parseMessage, renderMessage } from '../../../scripts/mutants/run-tests.ts';

test('a message is one line, whatever the name of its test holds', async () => {
  const message = { file: 'test/a.test.ts', name: 'keeps "a\nb\u2028c\u2029d"', failed: true };
  const output = new PassThrough();
  const lines = createInterface(output);
  const read: string[] = [];
  lines.on('line', (line) => read.push(line));
  output.end(`${renderMessage(message)}\n`);
  await once(lines, 'close');
  expect(read.map(parseMessage)).toStrictEqual([message]);
});
