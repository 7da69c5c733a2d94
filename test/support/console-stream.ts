/** Streams of events of the console. */
import { onTestFinished } from 'vitest';

/** Reads a stream until the test leaves it, or it ends. */
export async function readEvents(path: string, cookie: string, headers: Record<string, string> = {}) {
  const gone = new AbortController();
  const answer = await fetch(path, {
    headers: { cookie, ...headers },
    signal: gone.signal,
    redirect: 'manual',
  });
  onTestFinished(() => gone.abort());
  let text = '';
  let isOver = false;
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true });
    isOver = true;
  })().catch(() => {});
  return {
    answer,
    text: () => text,
    isOver: () => isOver,
    leave: async () => {
      gone.abort();
      await reading;
    },
  };
}
