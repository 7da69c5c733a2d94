/**
 * `npm run demo:video`: a room from the signup to its end, on a page that anyone can press through. It starts a service with the
 * sandbox, a relay and the page, prints one address, and stops everything at Ctrl-C. With `--headless` two browsers go through the
 * story, and it is printed with its figures; exit code 0 means that everything worked.
 */
import { parseArgs } from 'node:util';
import { END_SIGNALS, Opened } from '../src/run/lifetime.ts';
import { readPemFiles } from '../src/run/read-listeners.ts';
import { readPort } from '../src/run/read-values.ts';
import { openStand, type StandOptions } from './stand.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

function readOptions(): StandOptions {
  const host = process.env.HOST || '127.0.0.1';
  const tls = readPemFiles(process.env, { certificate: 'TLS_CERT', key: 'TLS_KEY' });
  if (!tls && !LOOPBACK.includes(host)) {
    throw new Error('pages of other devices get keys and cameras over HTTPS alone: set TLS_CERT and TLS_KEY');
  }
  return { host, port: readPort(process.env, 'PORT', 0), tls };
}

async function main(opened: Opened): Promise<void> {
  const { values } = parseArgs({ options: { headless: { type: 'boolean', default: false } } });
  if (values.headless) {
    const { tellTheStory } = await import('./headless.ts');
    await tellTheStory(opened, readOptions());
    await end(opened, 0);
  }
  const { url } = await openStand(opened, readOptions());
  process.stdout.write(`\nOpen ${url} in a browser: sign up, pay, and join.\n\nStop with Ctrl-C.\n`);
}

/** A second signal ends it at once. */
async function end(opened: Opened, exitCode: number): Promise<never> {
  if (opened.ending.aborted) process.exit(exitCode || 1);
  await opened.closeAll();
  process.exit(exitCode);
}

const opened = new Opened();
for (const signal of END_SIGNALS) {
  let since: number | undefined;
  process.on(signal, () => {
    // npm hands on the signal that the terminal has sent to this process, too.
    if (since !== undefined && performance.now() - since < 1_000) return;
    since = performance.now();
    void end(opened, 0);
  });
}
main(opened).catch(async (error: Error) => {
  if (opened.ending.aborted) return;
  process.stderr.write(`\nThe demo failed: ${error.message}\n`);
  await end(opened, 1);
});
