/**
 * Traces, sent by OTLP over HTTP: one span per request and one per database transaction.
 *
 * Loaded only if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, and before
 * anything that it traces is opened. The exporter and the batch processor read the other standard
 * OTEL_ variables themselves.
 */
import FastifyOtel from '@fastify/otel';
import { SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { FastifyRequest } from 'fastify';

/** Polled constantly, always with the same result. */
const UNTRACED = new Set(['/healthz', '/readyz', '/metrics']);

/** `close` flushes the remaining spans. */
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
    // Spans for hooks would cost more than they are worth.
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

/** A URL may contain a secret, such as a checkout id. The route pattern does not. */
function nameByRoute(span: NonNullable<RequestSpan>, request: FastifyRequest): void {
  const route = request.routeOptions.url ?? 'none';
  span.updateName(`${request.method} ${route}`);
  span.setAttribute('url.path', route);
}

/** Spans show that something failed. The reason goes to the log, which redacts secrets. */
const withoutMessages: SpanProcessor = {
  onStart: () => undefined,
  onEnding: (span) => {
    if (span.status.message !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  },
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
