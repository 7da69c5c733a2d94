import type { FastifyBaseLogger } from 'fastify';
import { describe, expect, it } from 'vitest';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { RequestLog } from '../../../src/doors/http/request-log.ts';

const BINDINGS = { reqId: 'req_1' };

/** The lines, without their time, that a request's log and pino's own child write. */
function linesOf(level: string, write: (log: FastifyBaseLogger) => void): [string[], string[]] {
  const written = [
    (log: FastifyBaseLogger) => new RequestLog(log, BINDINGS),
    (log: FastifyBaseLogger) => log.child(BINDINGS),
  ].map((make) => {
    const lines: string[] = [];
    write(
      make(makeLog(level, { write: (line: string) => void lines.push(line.replace(/"time":"[^"]+",/, '')) })),
    );
    return lines;
  });
  return written as [string[], string[]];
}

const fault = Object.assign(new Error('lost', { cause: new Error('cut') }), { code: 'X' });

describe('the log of a request', () => {
  it.each<[string, (log: FastifyBaseLogger) => void]>([
    ['fields and a message', (log) => log.info({ status: 200, ms: 1.5 }, 'request')],
    ['fields alone', (log) => log.warn({ status: 200 })],
    ['a message', (log) => log.info('started')],
    ['a message with values', (log) => log.info('%s of %d', 'one', 2)],
    ['an error', (log) => log.error(fault)],
    ['an error and a message', (log) => log.error(fault, 'internal error')],
    ['an error in a field', (log) => log.error({ err: fault }, 'internal error')],
    ['secrets', (log) => log.info({ headers: { authorization: 'x' }, token: 'y' }, 'sk_test_abcdefgh12')],
    ['null', (log) => log.info(null, 'nothing')],
    ['a child', (log) => log.child({ part: 'a' }).info({ n: 1 }, 'from a part')],
    [
      'each level',
      (log) => {
        for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const)
          log[level]({}, level);
      },
    ],
  ])('writes %s as a child of pino does', (_, write) => {
    const [own, child] = linesOf('info', write);
    expect(own.length).toBeGreaterThan(0);
    expect(own).toEqual(child);
    for (const line of own) expect(JSON.parse(line)).toMatchObject(BINDINGS);
  });

  it('writes nothing below its level, and has the level of the whole log', () => {
    expect(linesOf('warn', (log) => log.info({ status: 200 }, 'request'))).toEqual([[], []]);
    expect(new RequestLog(makeLog('warn') as FastifyBaseLogger, BINDINGS).level).toBe('warn');
  });
});
