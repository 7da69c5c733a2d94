/** What a start loads, and what it leaves to the first use. A file that is loaded costs memory and time. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MACHINE } from '../support/environment.ts';

const RUN = new URL('../../src/run/', import.meta.url);

/** The packages, and the parts of this project, whose files are loaded with a file of `src/run`. */
function loadedWith(file: string): string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({
      load(url, context, next) {
        const [, name] = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*\\/node_modules\\/)/.exec(url) ?? [];
        const [, part] = /\\/(src\\/doors\\/console\\/pages|src\\/outward\\/events\\/schemas|src\\/\\w+|sandbox)\\/(?!.*\\/node_modules\\/)/.exec(url) ?? [];
        loaded.add(name ?? part);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(new URL(file, RUN).href)});
    console.log(JSON.stringify([...loaded].filter((each) => each !== undefined)));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(RUN),
    env: MACHINE,
    encoding: 'utf8',
  });
  return JSON.parse(said);
}

describe('the service is loaded without', () => {
  const loaded = loadedWith('service.ts');

  test('nothing that it needs', () => {
    expect(loaded).toEqual(
      expect.arrayContaining(['src/run', 'src/doors', 'fastify', '@grpc/grpc-js', 'pg']),
    );
  });

  test.each([
    ['the client of the payment provider', 'stripe'],
    ['what renders documents', 'marked'],
    ['the sandbox', 'sandbox'],
    ['the client of the mail server', 'nodemailer'],
    ['the client of the issuer', 'openid-client'],
    ['the pages of the console', 'src/doors/console/pages'],
    ['what verifies passkeys', '@simplewebauthn/server'],
    ['what agents speak', '@modelcontextprotocol/server'],
    ['the schemas of events', 'src/outward/events/schemas'],
    ['the reference page', '@fastify/swagger'],
    ['the reference page', '@fastify/swagger-ui'],
    ['the reflection of gRPC', '@grpc/reflection'],
    ['the health service of gRPC', 'grpc-health-check'],
    ['the loader of .proto files', 'protobufjs'],
    ['tracing', '@opentelemetry/sdk-trace-node'],
    ['types that only the compiler needs', 'typebox'],
    ['the command line', 'commander'],
  ])('%s (%s)', (_what, name) => {
    expect(loaded).not.toContain(name);
  });
});

test('the console is loaded without what verifies passkeys', () => {
  const loaded = loadedWith('../doors/console/routes.ts');
  expect(loaded).toContain('src/doors/console/pages');
  expect(loaded).not.toContain('@simplewebauthn/server');
});

test('the program loads the service only beside the database that starts', () => {
  const loaded = loadedWith('embedded-postgres/embedded-postgres.ts');
  expect(loaded).toContain('pg');
  expect(loaded).not.toContain('src/doors');
});
