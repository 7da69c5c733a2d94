/** Reads server-sent events. Source: HTML, 9.2.6, without reconnection. */

export interface ServerSentEvent {
  readonly event: string;
  /** Empty: only the id came, which moves the place of the reader. */
  readonly data: string;
  /** Absent: none came with it. */
  readonly id?: string;
}

/** Throws if one event has more than `charactersMax` characters. What is incomplete at the end is left out. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  charactersMax: number,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  let size = 0;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    rest += text;
    // A line feed that a later chunk may still add to a carriage return is waited for.
    const lines = /[\r\n]/.test(text) ? rest.split(/\r\n|\n|\r(?!$)/) : [rest];
    rest = lines.pop()!;
    for (const line of lines) {
      size += line.length;
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id') id = value;
      if (line !== '') continue;
      if (data.length > 0 || id !== undefined)
        yield { event: event || 'message', data: data.join('\n'), ...(id !== undefined && { id }) };
      event = '';
      id = undefined;
      data = [];
      size = 0;
    }
    if (size + rest.length > charactersMax) throw new Error('an event is too long');
  }
}
