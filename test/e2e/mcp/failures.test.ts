import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, echo, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** Servers that fail, and limits of servers and tools. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let sound: McpUpstream;
let broken: McpUpstream;

beforeAll(async () => {
  [gateway, sound, broken] = await Promise.all([shareGateway(), startMcpUpstream(), startMcpUpstream({ sessions: false })]);
  client = await mcpClient(gateway);
  await client.addServer('sound', sound.url);
  await client.addServer('broken', broken.url);
});
afterAll(async () => {
  await Promise.all([sound?.close(), broken?.close()]);
});

const post = async (slug: string, body: unknown, headers?: Record<string, string>) => {
  const { status, text, headers: sent } = await client.post(slug, body, headers);
  return { status, message: text.startsWith('{') || text.includes('data:') ? messageOf(text) : text, headers: sent };
};
const replyWith = (status: number, headers: Record<string, string>, body = '') => {
  broken.override = (_, response) => void response.writeHead(status, headers).end(body);
};

describe('a server', () => {
  it('is given up after its timeout if it does not reply', async () => {
    await client.addServer('hanging', broken.url, { configurations: { request_timeout: 200 } });
    broken.override = () => {};
    const reply = await post('hanging', initialize);
    const message =
      'The MCP server hanging sent nothing for 200 ms. ' +
      'request_timeout in the configurations of its integration, or MCP_REQUEST_TIMEOUT, sets this time';
    const error = { code: -32603, message, data: { code: 'request_timeout' } };
    expect([reply.status, reply.message.error]).toEqual([408, error]);
    broken.override = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    const half = await post('hanging', initialize);
    expect([half.status, half.message.error]).toEqual([408, error]);
    broken.override = (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n');
    const stream = await client.post('hanging', initialize);
    expect([stream.status, stream.text.split('\n\n')[1]]).toEqual([
      200,
      `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error })}`,
    ]);
  });

  it('can be asked again for events behind the last one, if it breaks a stream whose events have ids', async () => {
    broken.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n', () => response.destroy());
    };
    await expect(client.post('broken', initialize)).rejects.toThrow();
  });

  it('cannot reply to a request with a page', async () => {
    replyWith(200, { 'content-type': 'text/html; charset=utf-8' }, '<h1>Sign in</h1>');
    const reply = await post('broken', initialize);
    expect([reply.status, reply.message.error]).toEqual([
      502,
      {
        code: -32603,
        message:
          'The MCP server broken replied with text/html; charset=utf-8. A reply has status 200 and is application/json or text/event-stream',
        data: { code: 'upstream_invalid' },
      },
    ]);
  });

  it.each<[string, number, Record<string, string>, string, string]>([
    ['without a content type', 200, {}, 'x', 'replied with no content type'],
    ['with 202 and no message', 202, {}, '', 'replied with status 202'],
    ['with 204', 204, {}, '', 'replied with status 204'],
    ['to another request', 200, { 'content-type': 'application/json' }, '{"id":5,"result":{}}', 'replied to another request'],
    ['with invalid JSON', 200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0"', 'sent a reply that is no message'],
    ['with a batch', 200, { 'content-type': 'application/json' }, '[{"id":1,"result":{}}]', 'sent a reply that is no message'],
    [
      'with a result that names no request',
      ...([200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":null,"result":{}}'] as const),
      'replied to another request',
    ],
    ['with no result', 200, { 'content-type': 'application/json' }, '{"id":1}', 'sent a reply without a result'],
    ['with nothing', 200, { 'content-type': 'application/json' }, '', 'sent an empty reply'],
    ['with an error of its own', 500, { 'content-type': 'application/json' }, '{"error":"x"}', 'replied with status 500'],
  ])('is named in the error if it replies to a request %s', async (_, status, headers, body, text) => {
    replyWith(status, headers, body);
    const reply = await post('broken', initialize);
    expect([reply.status, reply.message.id, reply.message.error.message]).toEqual([
      502,
      1,
      expect.stringContaining(`The MCP server broken ${text}`),
    ]);
  });

  it('may begin its JSON with a byte order mark, which clients remove', async () => {
    replyWith(200, { 'content-type': 'application/json' }, '\ufeff{"jsonrpc":"2.0","id":1,"result":{}}');
    const reply = await client.post('broken', initialize);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('may begin its JSON with a byte order mark in replies to requests of the gateway itself', async () => {
    const { integration } = await client.addServer('marked', broken.url);
    broken.override = async (request, response) => {
      const { id, method } = (await json(request)) as JsonObject;
      const opened = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'marked', version: '1' } };
      const result = { initialize: opened, 'tools/list': { tools: [{ name: 'marked', inputSchema: {} }] } }[String(method)];
      const reply = {
        jsonrpc: '2.0',
        id,
        ...(result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }),
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(`\ufeff${JSON.stringify(reply)}`);
    };
    const { body } = await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {});
    expect(body).toMatchObject({ success: true, sync_error: null, total: 1 });
  });

  it.each([429, 503])('has its status and retry-after in the error if it asks to wait without a message: %i', async (status) => {
    replyWith(status, { 'content-type': 'application/json', 'retry-after': '7' }, '{"error":"slow down"}');
    const reply = await post('broken', initialize);
    expect([reply.status, reply.headers.get('retry-after'), reply.message.error.message]).toEqual([
      status,
      '7',
      `The MCP server broken replied with status ${status}`,
    ]);
  });

  it('gets an error in the place of a reply that its stream does not have', async () => {
    const error = { code: -32603, message: 'The MCP server broken ended its stream without a reply' };
    for (const event of ['{"jsonrpc":"2.0","method":"notifications/x"}', '{"jsonrpc":"2.0","id":77,"result":{}}']) {
      replyWith(200, { 'content-type': 'text/event-stream' }, `data: ${event}\n\n`);
      const { status, text } = await client.post('broken', initialize);
      const last = JSON.parse(text.trim().split('data: ').at(-1) ?? '');
      expect([status, last], event).toMatchObject([200, { id: 1, error }]);
    }
    // The client can ask for further events, and has the whole reply.
    for (const event of [
      'id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}',
      `data: {"jsonrpc":"2.0","id":1,"result":{"text":"${'x'.repeat(70_000)}"}}`,
    ]) {
      replyWith(200, { 'content-type': 'text/event-stream' }, `${event}\n\n`);
      expect((await client.post('broken', initialize)).text).not.toContain('error');
    }
  });

  it('is named in the error if it cannot be reached', async () => {
    const gone = await startMcpUpstream();
    await gone.close();
    await client.addServer('gone', gone.url);
    const virtual = { name: 'gone-too', slug: 'gone-too', workspace_id: gateway.workspaceId };
    await gateway.admin.create('/mcp-virtual-servers', { ...virtual, tools: [{ mcp_server_id: 'gone', tool: '*' }] });
    for (const slug of ['gone', 'gone-too']) {
      const reply = await post(slug, callTool('any'));
      expect([reply.status, reply.message.error.message], slug).toEqual([502, 'The MCP server gone could not be reached']);
    }
  });

  it('is not called for a time once its circuit has opened', async () => {
    const cb_config = { failure_threshold: 2, cooldown_interval: 60_000, failure_status_codes: [500] };
    await client.addServer('circuit', broken.url, { configurations: { cb_config } });
    replyWith(500, { 'content-type': 'application/json' }, '{}');
    const opened = await until(
      async () => {
        const got = await post('circuit', initialize);
        return got.status === 503 && got;
      },
      { what: 'an open circuit' },
    );
    expect(opened.message.error).toMatchObject({ code: -32603, message: expect.stringContaining('circuit is not called') });
    expect(opened.headers.get('retry-after')).toBe('60');
    expect((await post('broken', initialize)).status).toBe(500);
  });

  it('is not called for a time once the gateway could not open a session for clients that have none', async () => {
    const cb_config = { failure_threshold: 2, cooldown_interval: 60_000 };
    await client.addServer('unopened', broken.url, { configurations: { cb_config } });
    const virtual = { name: 'Unopened', slug: 'via-unopened', workspace_id: gateway.workspaceId };
    await gateway.admin.create('/mcp-virtual-servers', { ...virtual, tools: [{ mcp_server_id: 'unopened', tool: '*' }] });
    replyWith(500, { 'content-type': 'application/json' }, '{}');
    const messages: string[] = [];
    await until(
      async () => {
        const { status, message } = await post('unopened', callTool('any'));
        messages.push(message.error.message);
        return status === 503;
      },
      { what: 'an open circuit' },
    );
    expect([messages.length, messages[0], messages.at(-1)]).toEqual([
      3,
      'The MCP server unopened replied with status 500',
      'The MCP server unopened is not called for a time, because its last calls failed',
    ]);
    const count = broken.received.length;
    const { result } = (await post('via-unopened', request('tools/list'))).message;
    expect(result._meta['svc-gateway/missing_servers']).toEqual([{ server: 'unopened', reason: messages.at(-1) }]);
    expect(broken.received.length).toBe(count);
  });

  it.each<[string, string, number]>([
    ['a JSON reply of 100 MB', 'application/json', 100],
    ['an event of 100 MB', 'text/event-stream', 100],
  ])('is cut off if it sends %s', async (_, type, megabytes) => {
    const chunk = 'x'.repeat(1024 * 1024);
    let sent = 0;
    broken.override = (_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.write(type.includes('json') ? '{"jsonrpc":"2.0","id":1,"result":{"text":"' : 'data: {"text":"');
      const more = (): void => {
        while (sent < megabytes && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      response.on('error', () => {});
      more();
    };
    const { message } = await post('broken', initialize);
    expect([message.id, message.error.data.code]).toEqual([1, 'upstream_invalid']);
    expect(sent).toBeLessThan(megabytes);
  });

  it('cannot redirect the gateway to a private address', async () => {
    let reached = 0;
    const target = await startMcpUpstream();
    target.override = (_, response) => {
      reached += 1;
      response.end();
    };
    for (const status of [301, 302, 303, 307, 308]) {
      replyWith(status, { location: target.url });
      const reply = await post('broken', initialize);
      expect([reply.status, reply.message.error.data.code, reply.headers.get('location')]).toEqual([
        502,
        'upstream_status',
        null,
      ]);
    }
    expect(reached).toBe(0);
    await target.close();
  });

  it.each([
    ['application/json', '{"jsonrpc":"2.0","id":4711,"result":{}}', 502],
    ['text/event-stream', 'data: {"jsonrpc":"2.0","id":4711,"result":{}}\n\n', 200],
  ])('cannot send the client a reply to another request, in %s', async (type, body, status) => {
    replyWith(200, { 'content-type': type }, body);
    const reply = await client.post('broken', initialize);
    expect(reply.status).toBe(status);
    expect(reply.text).not.toContain('4711');
  });

  it('cannot send bytes that are not UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"text":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}'),
    ]);
    broken.override = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    const refused = await post('broken', initialize);
    expect([refused.status, refused.message.error]).toMatchObject([
      502,
      { message: expect.stringContaining('not UTF-8'), data: { code: 'upstream_invalid' } },
    ]);
    broken.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(Buffer.concat([Buffer.from('data: '), body, Buffer.from('\n\n')]));
    };
    expect((await post('broken', initialize)).message.result.text).toBe('\ufffd\ufffd');
  });

  it('serves the calls that it still can while its tools change', async () => {
    broken.override = null;
    const calls = Array.from({ length: 20 }, (_, at) =>
      post('broken', callTool(at % 2 === 0 ? 'echo' : 'gone', { text: `t${at}` })),
    );
    for (const [at, { status, message }] of (await Promise.all(calls)).entries()) {
      expect(status).toBe(200);
      if (at % 2 === 0) expect(message.result.content[0].text).toBe(`t${at}`);
      else expect(JSON.stringify(message)).toContain('gone');
    }
  });
});

describe('tokens of tool calls', () => {
  it('are estimated for the log and charged to budgets', async () => {
    const policy = (fields: JsonObject) =>
      gateway.admin.post('/policies/usage-limits', {
        ...{ workspace_id: gateway.workspaceId, name: 'tools', type: 'tokens', credit_limit: 400 },
        ...{ conditions: [{ key: 'mcp_tool', value: 'echo' }], group_by: [{ key: 'mcp_server' }] },
        ...fields,
      });
    const made = await policy({ target: 'mcp_tools' });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    // A budget for calls of models does not count tools.
    const ofModels = {
      target: 'llm',
      credit_limit: 100,
      conditions: [{ key: 'api_key', value: '*' }],
      group_by: [{ key: 'api_key' }],
    };
    expect((await policy(ofModels)).status).toBe(200);
    const { status, headers } = await post('sound', echo('x'.repeat(400)));
    expect(status).toBe(200);
    const log = await until(
      async () => {
        const path = `/logs?trace_id=${headers.get('x-svc-trace-id')}&workspace_id=${gateway.workspaceId}`;
        return (await gateway.admin.get(path)).body.data[0];
      },
      { what: 'the log of the call' },
    );
    expect(log.metrics ?? log).toMatchObject({ req_units: expect.any(Number) });
    const refused = await until(
      async () => {
        const got = await post('sound', echo('y'.repeat(400)));
        return got.status !== 200 && got;
      },
      { what: 'a used-up budget' },
    );
    expect([refused.status, refused.message.error.data.code]).toEqual([412, 'usage_policy_limit']);
    expect((await post('sound', callTool('add', { a: 1, b: 2 }))).status).toBe(200);
  });
});
