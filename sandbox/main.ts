/** Runs the sandbox by itself: `node sandbox/main.ts --help`. */
import { parseArgs } from 'node:util';
import { startSandbox } from './server.ts';

const HELP = `A payment provider for development and tests that speaks a part of Stripe's API.

  node sandbox/main.ts [options]

  --port <number>            port to listen on (default 12111)
  --host <address>           address to listen on (default 127.0.0.1)
  --secret-key <sk_test_..>  what clients authenticate with (default sk_test_sandbox)
  --public-url <url>         where browsers reach the payment pages
  --state-dir <folder>       keep the state in this folder
  --webhook <url>            send events there; may be repeated
  --webhook-secret <whsec_>  signs the events for the --webhook at the same position
  --settle-after <ms>        let bank debits settle by themselves after so many milliseconds
  --merchant <name>          name shown on the payment pages
  --seed <text>              make identifiers predictable
`;

/** Start from command line arguments and stop on a signal. */
async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      port: { type: 'string', default: '12111' },
      host: { type: 'string', default: '127.0.0.1' },
      'secret-key': { type: 'string', default: 'sk_test_sandbox' },
      'public-url': { type: 'string' },
      'state-dir': { type: 'string' },
      webhook: { type: 'string', multiple: true, default: [] },
      'webhook-secret': { type: 'string', multiple: true, default: [] },
      'settle-after': { type: 'string' },
      merchant: { type: 'string' },
      seed: { type: 'string' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const settleAfter = values['settle-after'];
  const sandbox = await startSandbox({
    host: values.host,
    port: wholeNumber('--port', values.port),
    secretKey: values['secret-key'],
    webhooks: pairWebhooks(values.webhook, values['webhook-secret']),
    log: (line) => process.stdout.write(`${line}\n`),
    ...(values['public-url'] === undefined ? {} : { publicUrl: values['public-url'] }),
    ...(values['state-dir'] === undefined ? {} : { stateDir: values['state-dir'] }),
    ...(settleAfter === undefined ? {} : { settleAfterMs: wholeNumber('--settle-after', settleAfter) }),
    ...(values.merchant === undefined ? {} : { merchantName: values.merchant }),
    ...(values.seed === undefined ? {} : { seed: values.seed }),
  });
  process.stdout.write(`sandbox payment provider on ${sandbox.url} (dashboard at ${sandbox.url}/)\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
}

function pairWebhooks(urls: string[], secrets: string[]): Array<{ url: string; secret: string }> {
  return urls.map((url, index) => {
    const secret = secrets[index];
    if (secret === undefined)
      throw new Error(`--webhook ${url} needs a --webhook-secret at the same position.`);
    return { url, secret };
  });
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number.`);
  return Number(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
