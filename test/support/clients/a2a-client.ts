import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { SharedGateway } from '../product/shared-gateway.ts';
import { until } from '../until.ts';

export const rpc = (method: string, params: JsonObject = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
export const said = (text: string) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] } });
export const v1 = { 'a2a-version': '1.0' };

export type A2aClient = ReturnType<typeof a2aClient>;

/** Adds agents to a gateway, and calls them without an SDK. */
export function a2aClient(gateway: SharedGateway) {
  const urlOf = (slug: string, rest = '') => `${gateway.origin}/v1/agent/${slug}${rest}`;

  async function addAgent(slug: string, url: string, fields: JsonObject = {}): Promise<{ server: string; integration: string }> {
    const workspace_id = gateway.workspaceId;
    const made = await gateway.admin.create('/agent-integrations', {
      ...{ name: slug, slug: `${slug}-${workspace_id.slice(0, 8)}`, url, auth_type: 'none', workspace_id },
      ...fields,
    });
    const server = await gateway.admin.create('/agent-servers', {
      name: slug,
      slug,
      workspace_id,
      agent_integration_id: made.id,
    });
    return { server: String(server.id), integration: String(made.id) };
  }

  async function send(slug: string, body: unknown, { rest = '', method = 'POST', headers = {} as Record<string, string> } = {}) {
    const reply = await fetch(urlOf(slug, rest), {
      method,
      headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey, ...headers },
      ...(body === null
        ? {}
        : { body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
  }

  const logOf = (reply: { headers: Headers }) => {
    const trace = reply.headers.get('x-svc-trace-id');
    return until(
      async () => (await gateway.admin.get(`/logs?trace_id=${trace}&workspace_id=${gateway.workspaceId}`)).body.data[0],
      { what: 'a log of the call' },
    );
  };

  return { urlOf, addAgent, send, logOf };
}
