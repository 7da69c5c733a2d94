/**
 * `POST /mcp`: the Model Context Protocol, for agents, where the operator turned it on (`MCP_TOOLS`). Each request stands alone, so any process
 * answers it. The first one loads what answers it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Agent } from '../../../access/agents/agent-key.ts';
import { AgentLookups, authenticateAgent } from '../../../access/agents/authenticate-agent.ts';
import { Failure, invalidRequest } from '../../../base/failure.ts';
import type { Deps } from '../../deps.ts';
import { authorizationOf, type Http } from '../../http/http.ts';
import { isWhole } from '../../http/late-body.ts';
import type { Route } from '../route.ts';
import type { McpServer } from './mcp-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    agent: Agent | undefined;
  }
}

/** No tool takes more than a few thresholds. */
const BODY_BYTES_MAX = 32 * 1024;

/** A write shows what it changes, checks, and makes the change. Each may take its own time. */
const ANSWER_SECONDS = 40;

export function mcpRoute(app: Http, deps: Deps, routes: readonly Route[]): void {
  const lookups = new AgentLookups(deps.db);
  const agentOf = (request: FastifyRequest) =>
    authenticateAgent(deps, lookups, authorizationOf(request), request.ip);
  let server: McpServer | undefined;
  app.decorateRequest('agent', undefined);
  app.addHook('onClose', async () => server?.close());
  app.post(
    '/mcp',
    {
      schema: { hide: true },
      bodyLimit: BODY_BYTES_MAX,
      config: { answerSeconds: ANSWER_SECONDS },
      onRequest: async (request) => {
        refuseOrigin(request, deps.config.publicUrl);
        request.agent = await agentOf(request);
        request.isLate = !isWhole(request);
        request.keyId = request.agent.keyId;
        deps.keyRate.count(request.agent);
      },
      // As with API keys, it may have been revoked while the body was on its way.
      preValidation: async (request) => {
        if (request.isLate) request.agent = await agentOf(request);
      },
    },
    async (request, reply) => {
      // One call is one request of the key. The protocol has had no lists since June 2025.
      if (Array.isArray(request.body)) throw invalidRequest('the body must be one message');
      if (!server) {
        const { openMcpServer } = await import('./mcp-server.ts');
        server ??= openMcpServer(app, deps, routes);
      }
      return send(reply, await server.answer(request.agent!, headersOf(request), request.body));
    },
  );
}

/** Web pages of others must not reach it through a browser. Programs send no origin. Source: the protocol, "Security Warning" of its transport. */
function refuseOrigin({ headers: { origin } }: FastifyRequest, publicUrl: string): void {
  if (origin === undefined || origin === new URL(publicUrl).origin) return;
  throw new Failure('permission_denied', { message: 'permission denied: this origin may not call' });
}

/** Those of the protocol; the key stays here. */
function headersOf({ headers }: FastifyRequest): Headers {
  const names = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
  return new Headers(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])) as [
      string,
      string,
    ][],
  );
}

async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type');
  if (type) reply.type(type);
  return reply.code(answer.status).send(await answer.text());
}
