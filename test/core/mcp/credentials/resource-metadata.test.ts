import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../../../../core/contract/values/http/http.ts';
import { replyResourceMetadata } from '../../../../core/mcp/credentials/resource-metadata.ts';
import { mcpErrorReply } from '../../../../core/mcp/refusals.ts';

const urls = { publicUrl: 'https://gateway.example.com', mcpPublicUrl: 'https://mcp.example.com' };

describe('MCP servers with a host name of their own', () => {
  it('name it in their metadata, and the authorisation server at the address of the service', () => {
    const sent: unknown[] = [];
    const sink = { send: (...reply: unknown[]) => void sent.push(...reply) } as unknown as ReplySink;
    const path = '/.well-known/oauth-protected-resource/team/issues/mcp';
    expect(replyResourceMetadata(urls, { method: 'GET', path } as InboundRequest, sink)).toBe(true);
    expect(sent[0]).toBe(200);
    expect(JSON.parse(String(sent[2]))).toMatchObject({
      resource: 'https://mcp.example.com/team/issues/mcp',
      authorization_servers: ['https://gateway.example.com'],
    });
  });

  it('name it in the challenge of a request without credentials', () => {
    const request = { path: '/team/issues/mcp', header: () => undefined };
    const ctx = { request, gatewayHeaders: new Map(), mcp: null } as unknown as RequestContext;
    const reply = mcpErrorReply(ctx, new GatewayError('invalid_api_key'), urls.mcpPublicUrl);
    expect(reply?.headers).toContain(
      'Bearer scope="mcp.invoke", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/team/issues/mcp"',
    );
  });
});
