/**
 * Traces, sent by OTLP over HTTP: a span for each request, and one for each database transaction.
 *
 * Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, and
 * before anything that is to be traced is opened. The exporter and the batches read the other
 * standard OTEL_ variables by themselves.
 */
import FastifyOtel from '@fastify/otel';
import { SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { FastifyRequest } from 'fastify';

/** Asked for all the time, by machines, and the same each time. */
const UNTRACED = new Set(['/healthz', '/readyz', '/metrics']);

/** `close` sends what is left. */
export interface Tracing {
  close(): Promise<void>;
}

export async function startTracing(): Promise<Tracing> {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'boxoffice' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [withoutMessages, new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();

  const requests = new FastifyOtel.FastifyOtelInstrumentation({
    registerOnInitialization: true,
    // A span for each hook of each request would cost more than it tells.
    instrumentHooks: false,
    recordExceptions: false,
    requestHook: nameByRoute,
    ignorePaths: ({ url }) => UNTRACED.has(url),
  });
  requests.setTracerProvider(provider);

  return {
    close: async () => {
      requests.disable();
      await provider.shutdown();
    },
  };
}

type RequestSpan = ReturnType<FastifyRequest['opentelemetry']>['span'];

/** A URL may hold what only its bearer should know, such as the id of a checkout; its pattern does not. */
function nameByRoute(span: NonNullable<RequestSpan>, request: FastifyRequest): void {
  const route = request.routeOptions.url ?? 'none';
  span.updateName(`${request.method} ${route}`);
  span.setAttribute('url.path', route);
}

/** That something failed is told here; why is told by the log, which knows what to keep to itself. */
const withoutMessages: SpanProcessor = {
  onStart: () => undefined,
  onEnding: (span) => {
    if (span.status.message !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  },
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
