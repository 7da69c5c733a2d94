/**
 * Sends webhooks to URLs that tenants chose, which may be hostile.
 *
 * A request goes to checked addresses only, follows no redirect, uses no proxy, verifies certificates, and
 * takes bounded time and memory whatever the receiver does. One call sends at most one request. If a connection
 * that was kept open turns out to be closed, the outcome is `failed` and says that the receiver may have the
 * request: the caller decides about the next attempt.
 */
import {
  type AgentOptions,
  type ClientRequest,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Certificate } from '../../base/lib/pem-files.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { AddressRanges } from './address-guard.ts';
import {
  checkPlainName,
  plainLookup,
  type ResolveName,
  resolverOfMachine,
  tlsLookup,
} from './guarded-lookup.ts';
import { type Answer, readAnswer } from './read-answer.ts';
import { RequestError } from './request-error.ts';
import {
  CONNECTIONS_PER_HOST_MAX,
  HEADER_BYTES_MAX,
  IDLE_PER_HOST_MAX,
  SEND_TIMES,
  type SendTimes,
} from './send-limits.ts';
import { type OfTenant, TenantHttpAgent, TenantHttpsAgent } from './tenant-agents.ts';
import { hostOf, refuseUrl } from './webhook-url.ts';

export interface WebhookRequest {
  /** Connections are of one tenant: what hangs at a host holds no connection that another tenant needs there. */
  readonly tenant: TenantId;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** `latencyMs` is the time that `send` took, in whole milliseconds. */
export type SendOutcome = { readonly latencyMs: number } & Answer;

const MIN_VERSION = 'TLSv1.2';

/** How long one of several addresses is tried before the next one. */
const ADDRESS_MS = 1_000;

export interface SenderOptions {
  readonly allowed: AddressRanges;
  readonly resolve?: ResolveName;
  readonly times?: SendTimes;
  /** Given to each receiver that asks for one over https. */
  readonly clientCertificate?: Certificate | undefined;
}

export class WebhookSender {
  readonly #allowed: AddressRanges;
  readonly #resolve: ResolveName;
  readonly #times: SendTimes;
  readonly #https: TenantHttpsAgent;
  readonly #http: TenantHttpAgent;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({
    allowed,
    resolve = resolverOfMachine(),
    times = SEND_TIMES,
    clientCertificate,
  }: SenderOptions) {
    this.#allowed = allowed;
    this.#resolve = resolve;
    this.#times = times;
    const shared: AgentOptions = {
      keepAlive: true,
      timeout: times.idle,
      maxSockets: CONNECTIONS_PER_HOST_MAX,
      maxFreeSockets: IDLE_PER_HOST_MAX,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    };
    this.#http = new TenantHttpAgent({ ...shared, lookup: plainLookup(resolve, allowed) });
    this.#https = new TenantHttpsAgent({
      ...shared,
      lookup: tlsLookup(resolve, allowed),
      // Not left to NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      minVersion: MIN_VERSION,
      // Made once. As options, they would be part of the name of each connection.
      ...(clientCertificate && {
        secureContext: createSecureContext({ ...clientCertificate, minVersion: MIN_VERSION }),
      }),
    });
  }

  /**
   * Sends one POST. Whatever the network and the receiver do is an outcome, never an error.
   *
   * @param signal ends the request early: the outcome is `failed`
   */
  async send(request: WebhookRequest, signal?: AbortSignal): Promise<SendOutcome> {
    const startedAt = performance.now();
    const attempt = this.#attempt(request, signal);
    this.#underWay.add(attempt);
    try {
      const answer = await attempt;
      return { ...answer, latencyMs: Math.round(performance.now() - startedAt) };
    } finally {
      this.#underWay.delete(attempt);
    }
  }

  /**
   * Fails with a `RequestError` if a request to the URL would fail because of the addresses that its name has now. Those of
   * https are looked up for each connection only.
   */
  async checkName(url: URL): Promise<void> {
    const host = hostOf(url);
    if (url.protocol !== 'http:' || isIP(host) > 0) return;
    const { connect } = this.#times;
    const late = Promise.withResolvers<never>();
    const why = `the name ${host} does not resolve within ${connect / 1000} s`;
    const timer = setTimeout(() => late.reject(new RequestError(why)), connect);
    try {
      await Promise.race([checkPlainName(host, this.#resolve, this.#allowed), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Refuses new requests, waits for those under way, and ends idle connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    this.#https.destroy();
    this.#http.destroy();
  }

  async #attempt(request: WebhookRequest, signal: AbortSignal | undefined): Promise<Answer> {
    if (this.#isClosed || signal?.aborted) return { kind: 'failed', error: 'the service is stopping' };
    const url = new URL(request.url);
    // The operator may have changed the ranges since the endpoint was created.
    const refusal = refuseUrl(url, this.#allowed);
    if (refusal !== undefined) return { kind: 'failed', error: `the URL ${refusal}` };
    return readAnswer(this.#open(url, request), {
      host: hostOf(url),
      body: request.body,
      times: this.#times,
      signal,
    });
  }

  #open(url: URL, { tenant, headers, body }: WebhookRequest): ClientRequest {
    const options: RequestOptions & OfTenant = {
      tenant: renderTenantId(tenant),
      method: 'POST',
      maxHeaderSize: HEADER_BYTES_MAX,
      insecureHTTPParser: false,
      headers: { ...headers, ...ownHeaders(body) },
    };
    return url.protocol === 'https:'
      ? requestHttps(url, { ...options, agent: this.#https })
      : requestHttp(url, { ...options, agent: this.#http });
  }
}

/** What each request has besides the signature and the type of its body. */
export function ownHeaders(body: string): Readonly<Record<string, string>> {
  return {
    'content-length': String(Buffer.byteLength(body)),
    'accept-encoding': 'identity',
    'user-agent': 'Boxoffice-Webhooks/1',
  };
}
