/** Ports for servers that end and start again on the same one, while other tests open connections all the time. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Systems give ports from 32,768 on to programs that ask for any port, and to the near end of each connection. */
const FIRST = 10_000;
const END = 32_000;

/** Free on `host` at this moment, and given only to a program that asks for it. */
export async function findLastingPort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(host, port)) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
