/** A program of an agent, as docs/mcp.md shows it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export async function connectAgent(url: string, key: string): Promise<Client> {
  const agent = new Client({ name: 'assistant', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await agent.connect(transport);
  return agent;
}
