/** `npx @boxoffice/sdk events`: prints the events of a tenant, and hands them on to a receiver of webhooks on this machine. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { checkTarget, checkUrl } from '../backend/check-url.ts';
import { followEvents } from './follow-events.ts';
import { forwardEvent } from './forward-event.ts';

const HELP = `usage: npx @boxoffice/sdk events [--url http://127.0.0.1:8080] [--forward-to URL] [--types TYPE,TYPE] [--after SEQ]

Follows the events of a tenant, from now on or after the number SEQ, and prints one line for each.
--forward-to sends each to a receiver of webhooks, once and signed, and prints what it answered: no tunnel is needed.

BOXOFFICE_API_KEY in the environment is a backend key of the tenant.
WEBHOOK_SECRET signs what is sent: whsec_...; without it, one is made and printed.
`;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Without one, one is made. */
function isSecret(secret = ''): boolean {
  return secret === '' || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
}

function readArguments() {
  const string = { type: 'string' } as const;
  const options = {
    url: string,
    'forward-to': string,
    types: string,
    after: string,
    help: { type: 'boolean' },
  } as const;
  try {
    const { values } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const { url = 'http://127.0.0.1:8080', 'forward-to': to, types, after } = values;
    checkUrl('--url', url);
    if (to !== undefined) checkTarget('--forward-to', to);
    if (after !== undefined && !/^\d{1,18}$/.test(after))
      throw new TypeError('--after must be the number of an event');
    const apiKey = process.env.BOXOFFICE_API_KEY;
    if (!apiKey) throw new TypeError('BOXOFFICE_API_KEY is not set');
    if (!isSecret(process.env.WEBHOOK_SECRET))
      throw new TypeError('WEBHOOK_SECRET must be whsec_ and base64');
    return { url, to, types, after, apiKey };
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${HELP}`);
  }
}

const { to, ...following } = readArguments();
const secret = process.env.WEBHOOK_SECRET || `whsec_${randomBytes(32).toString('base64')}`;
const log = (line: string) => process.stdout.write(`${line}\n`);
const note = (line: string) => process.stderr.write(`${line}\n`);

if (to !== undefined)
  log(`events go to ${to}, signed with ${process.env.WEBHOOK_SECRET ? 'WEBHOOK_SECRET' : secret}`);
try {
  for await (const { id, event, data } of followEvents(following, note)) {
    log(to === undefined ? data : `${id} ${event}: ${await forwardEvent({ to, secret, data })}`);
  }
} catch (error) {
  fail((error as Error).message);
}
