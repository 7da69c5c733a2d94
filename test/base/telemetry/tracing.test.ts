import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { context, propagation, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { startTracing, type Tracing } from '../../../src/base/telemetry/tracing.ts';
import { readBlocks } from '../../docs/blocks.ts';
import { ask, SECRET_KEY } from '../../support/service.ts';
import { makeTraffic, type Traffic, useLoggedService } from './support.ts';

interface ExportedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events?: readonly unknown[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: number };
  }[];
}

/** An OTLP server that keeps the spans it receives. */
let collector: Server;
const received: string[] = [];
let tracing: Tracing;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    received.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  tracing = await startTracing();
});
afterAll(async () => {
  await tracing.close();
  collector.close();
  // Other test files run in this process.
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  for (const api of [trace, context, propagation]) api.disable();
});

// The service must start after tracing.
const app = useLoggedService('silent');

describe('tracing', () => {
  let traffic: Traffic;
  let spans: ExportedSpan[];
  let resources: string;

  beforeAll(async () => {
    traffic = await makeTraffic(app);
    await ask(`http://127.0.0.1:${app.service.opsPort}/readyz`, 'GET');
    const refused = inTransaction(app.service.deps.db, (tx) => tx.query(`select 'canary'::integer`));
    await expect(refused).rejects.toThrow('canary');
    await tracing.close();
    const sent = received.map((body) => JSON.parse(body));
    resources = JSON.stringify(
      sent.flatMap((each) => each.resourceSpans.map((of: { resource: unknown }) => of.resource)),
    );
    spans = sent.flatMap((each) =>
      each.resourceSpans.flatMap((of: { scopeSpans: { spans: ExportedSpan[] }[] }) =>
        of.scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  });

  const attribute = (span: ExportedSpan, name: string) =>
    span.attributes.find((each) => each.key === name)?.value.stringValue;

  it('names the service', () => {
    expect(resources).toContain('{"key":"service.name","value":{"stringValue":"boxoffice"}}');
  });

  it('has a span for each request, named by its route, with its transaction inside', () => {
    const request = spans.find((span) => span.name === 'POST /v1/usage')!;
    expect(attribute(request, 'http.route')).toBe('/v1/usage');
    const inside = spans.filter((span) => span.traceId === request.traceId);
    const transaction = inside.find((span) => span.name === 'transaction')!;
    expect(attribute(transaction, 'db.system.name')).toBe('postgresql');
    const parent = inside.find((span) => span.spanId === transaction.parentSpanId)!;
    expect(parent.spanId === request.spanId || parent.parentSpanId === request.spanId).toBe(true);
  });

  /** A line for each span, further in than the span that it is a part of: its name, milliseconds, and attributes. */
  function draw(span: ExportedSpan, depth = 0): string[] {
    const ms = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6;
    const known = span.attributes.map(({ key, value }) => `${key}=${value.stringValue ?? value.intValue}`);
    const inside = spans.filter((each) => each.parentSpanId === span.spanId).reverse();
    const line = `${'  '.repeat(depth)}${span.name}  ${ms.toFixed(1)} ms  ${known.sort().join(' ')}`;
    return [line, ...inside.flatMap((each) => draw(each, depth + 1))];
  }

  it('is drawn in the reference', () => {
    const { text } = readBlocks('docs/metrics.md').find(
      ({ notes }) => notes['checked in'] === 'test/base/telemetry/tracing.test.ts',
    )!;
    const withoutTimes = (lines: readonly string[]) => lines.map((line) => line.replace(/[\d.]+ ms/, 'ms'));
    const request = spans.find((span) => span.name === 'POST /v1/usage')!;
    expect(withoutTimes(draw(request))).toEqual(withoutTimes(text.trimEnd().split('\n')));
  });

  it('marks a failed transaction with its SQLSTATE', () => {
    const failed = spans.filter((span) => attribute(span, 'db.response.status_code') === '22P02');
    expect(failed).toMatchObject([{ name: 'transaction', status: { code: 2 } }]);
  });

  it('has no span for endpoints that are polled', () => {
    expect(spans.map((span) => span.name)).not.toContain('GET /readyz');
  });

  it('contains no secret, no error message and no value of a statement', () => {
    const all = received.join('\n');
    const sessions = traffic.checkoutUrls.map((url) => /cs_test_\w+/.exec(url)![0]);
    const keys = traffic.keys.flatMap((key) => [key, key.slice(-43)]);
    for (const secret of [...keys, ...sessions, traffic.portalUrl, SECRET_KEY, app.webhookSecret]) {
      expect(all).not.toContain(secret);
    }
    expect(all).not.toContain('canary');
    expect(all).not.toContain('ada@example.com');
    expect(spans.filter((span) => span.status.message || span.events?.length)).toEqual([]);
    expect(spans.some((span) => span.status.code === 2)).toBe(true);
  });
});
