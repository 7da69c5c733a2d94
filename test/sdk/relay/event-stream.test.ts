import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvents, type ServerSentEvent } from '../../../sdk/typescript/src/relay/event-stream.ts';

async function read(chunks: readonly string[], charactersMax = 1_000): Promise<ServerSentEvent[]> {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(bytes, charactersMax)) events.push(event);
  return events;
}

describe('reads', () => {
  test.each<[string, string, ServerSentEvent[]]>([
    ['an event', 'event: a\ndata: b\n\n', [{ event: 'a', data: 'b' }]],
    ['one without a name', 'data: b\n\n', [{ event: 'message', data: 'b' }]],
    ['data of several lines', 'data: a\ndata:b\ndata\n\n', [{ event: 'message', data: 'a\nb\n' }]],
    ['colons in data', 'data: {"a":1}\n\n', [{ event: 'message', data: '{"a":1}' }]],
    [
      'other ends of lines',
      'event: a\r\ndata: b\r\n\r\ndata: c\r\r ',
      [
        { event: 'a', data: 'b' },
        { event: 'message', data: 'c' },
      ],
    ],
    ['no comment or name alone', ': a\n\nevent: a\n\n', []],
    [
      'an id alone, and one of an event',
      'id: 1\n\nid: 2\ndata: b\n\ndata: c\n\n',
      [
        { event: 'message', data: '', id: '1' },
        { event: 'message', data: 'b', id: '2' },
        { event: 'message', data: 'c' },
      ],
    ],
    ['nothing that is incomplete', 'data: a\n\ndata: b\n', [{ event: 'message', data: 'a' }]],
  ])('%s', async (_, text, events) => {
    expect(await read([text])).toStrictEqual(events);
  });

  test('the same however it is cut', async () => {
    const text = ': hello\r\n\r\nevent: a\r\ndata: b\r\ndata: c\r\n\r\ndata: d\n\n';
    const whole = await read([text]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 6 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
        const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
        expect(await read(chunks)).toStrictEqual(whole);
      }),
    );
  });
});

test.each([
  ['one long line', ['data: aaaa', 'aaaa']],
  ['many short lines', ['data: a\n', 'data: a\n', 'data: a\n']],
])('refuses an event that is too long: %s', async (_, chunks) => {
  await expect(read(chunks, 10)).rejects.toThrow('too long');
});
