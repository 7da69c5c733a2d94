#!/usr/bin/env node
/** `npx @boxoffice/sdk`: programs for the machine of a developer. */

/** Each reads its own arguments. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  events: () => import('./events.ts'),
  'whip-proxy': () => import('../whip-proxy/main.ts'),
};

const HELP = `usage: npx @boxoffice/sdk events [--forward-to URL]   follow the events of a tenant
       npx @boxoffice/sdk whip-proxy ...               publish as a device with an encoder of this machine

--help after either lists its options.
`;

const [name = ''] = process.argv.slice(2);
const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (run) await run();
else if (name === '--help') process.stdout.write(HELP);
else {
  process.stderr.write(HELP);
  process.exitCode = 1;
}
