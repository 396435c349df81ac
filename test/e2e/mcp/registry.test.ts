import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { mcpClient } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';

/** The list of MCP servers that a key can use, in the format of the MCP registry. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;

beforeAll(async () => {
  gateway = await shareGateway();
  client = await mcpClient(gateway);
});

describe('the registry', () => {
  const registry = async (key: string, query = '') => {
    const reply = await fetch(`${gateway.origin}/v0.1/servers${query}`, { headers: { 'x-svc-api-key': key } });
    return { status: reply.status, body: (await reply.json()) as JsonObject };
  };
  const namesIn = ({ body }: { body: JsonObject }) =>
    (body.servers as { server: { title: string } }[]).map(({ server }) => server.title).sort();

  it('lists the servers that the caller can use, page by page', async () => {
    const url = 'https://mcp.example.com/mcp';
    for (const slug of ['listed-a', 'listed-b', 'listed-c']) await client.addServer(slug, url);
    await gateway.admin.create('/mcp-virtual-servers', {
      ...{ name: 'listed-v', slug: 'listed-v', workspace_id: gateway.workspaceId },
      tools: [{ mcp_server_id: 'listed-a', tool: 'x' }],
    });
    const closed = { default_user_access: 'deny', workspace_id: gateway.workspaceId };
    await gateway.admin.put('/mcp-servers/listed-c/user-access', closed);
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const all = await registry(key, '?search=listed-');
    expect([all.status, namesIn(all)]).toEqual([200, ['listed-a', 'listed-b', 'listed-v']]);
    const [entry] = all.body.servers as { server: JsonObject; _meta: JsonObject }[];
    expect(entry).toMatchObject({
      server: {
        $schema: expect.stringContaining('server.schema.json'),
        name: expect.stringMatching(new RegExp(`/${client.workspaceSlug}\\.listed-[abv]$`)),
        remotes: [
          { type: 'streamable-http', url: expect.stringMatching(new RegExp(`/${client.workspaceSlug}/listed-[abv]/mcp$`)) },
        ],
      },
      _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', isLatest: true } },
    });
    const first = await registry(key, '?search=listed-&limit=2');
    expect(first.body.metadata).toMatchObject({ count: 2, nextCursor: expect.any(String) });
    const second = await registry(key, `?search=listed-&limit=2&cursor=${(first.body.metadata as JsonObject).nextCursor}`);
    expect([...namesIn(first), ...namesIn(second)].sort()).toEqual(namesIn(all));
    expect((second.body.metadata as JsonObject).nextCursor).toBeUndefined();
    const admin = await registry(gateway.adminKey, `?search=listed-&workspace_id=${gateway.workspaceId}`);
    expect(namesIn(admin)).toEqual(['listed-a', 'listed-b', 'listed-c', 'listed-v']);
    expect(namesIn(await registry(key, '?search=listed-&updated_since=2099-01-01T00:00:00Z'))).toEqual([]);
  });

  it('needs a key with a scope, and names bad parameters', async () => {
    expect((await registry('made-up')).status).toBe(401);
    const { key } = await gateway.admin.createKey({ scopes: ['completions.write'] });
    expect((await registry(key)).status).toBe(403);
    for (const query of ['limit=0', 'cursor=x', 'updated_since=yesterday']) {
      const refused = await registry(gateway.workspaceKey, `?${query}`);
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
    }
  });
});
