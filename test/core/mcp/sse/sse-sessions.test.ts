import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createPeers } from '../../../../core/mcp/peers/peers.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';
import { createSseSessions, type SseSessionAddress, type SseSessions } from '../../../../core/mcp/sse/sse-sessions.ts';
import { peerChannels } from '../../../support/fakes/peer-channels.ts';
import { type SseUpstream, startSseUpstream } from '../../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../../support/until.ts';
import { localTransport } from '../../upstream/outgoing-call.ts';

/** Three gateways of one machine, in one process. */
let gateways: SseSessions[];
let upstream: SseUpstream;
const sender = localTransport();

beforeAll(async () => {
  const channels = peerChannels();
  gateways = [0, 1, 2].map(() => createSseSessions(createPeers([channels.join()], new Uint8Array(32))));
  upstream = await startSseUpstream();
});
afterAll(async () => {
  await upstream?.close();
  await sender.close();
});

const parts = () => {
  const { origin, pathname } = new URL(upstream.url);
  const server = { document: { workspaceId: 'w' }, origin, path: pathname, headers: {} } as unknown as ServerSettings;
  const timeouts = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 30_000 };
  return { sender, server, timeouts };
};

/** Sends every message of a client to the next gateway. `at` is the address of its session. */
function acrossGateways(): Transport & { at: SseSessionAddress | null } {
  let next = 0;
  const gateway = () => gateways[next++ % gateways.length] as SseSessions;
  const receive = (message: JsonObject) => transport.onmessage?.(message as unknown as JSONRPCMessage);
  const question = { onEvent: receive, onCancel: () => {} };
  const transport: Transport & { at: SseSessionAddress | null } = {
    at: null,
    async start() {},
    async send(sent) {
      const message = sent as unknown as JsonObject;
      if (transport.at === null) {
        const { address, response } = await gateway().open(parts(), message);
        transport.at = address;
        void gateway().run(address, { action: 'listen', message: {}, headers: [] }, question);
        return receive(response);
      }
      const isRequest = message.id !== undefined && message.method !== undefined;
      const done = gateway().run(transport.at, { action: isRequest ? 'request' : 'notify', message, headers: [] }, question);
      if (isRequest) void done.then(receive, (error: Error) => transport.onerror?.(error));
      else await done;
    },
    async close() {
      if (transport.at) await gateway().run(transport.at, { action: 'end', message: {}, headers: [] }, question);
      transport.onclose?.();
    },
  };
  return transport;
}

async function connect(name: string) {
  const sdk = new Client(
    { name, version: '1' },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  );
  sdk.setRequestHandler(CreateMessageRequestSchema, () => ({
    ...{ model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: name } },
  }));
  sdk.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { colour: name } }));
  sdk.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file:///${name}` }] }));
  const transport = acrossGateways();
  await sdk.connect(transport);
  return { sdk, transport };
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

describe('a session at a server of HTTP+SSE over three gateways', () => {
  it('passes sampling, elicitation and roots to the client that called, and its replies back', async () => {
    const clients = await Promise.all(['ada', 'bob', 'eve', 'kim'].map((name) => connect(name)));
    expect(new Set(clients.map(({ transport }) => transport.at?.process)).size).toBeGreaterThan(0);
    for (let round = 0; round < 4; round++) {
      const said = await Promise.all(
        clients.map(async ({ sdk }) => [
          textOf(await sdk.callTool({ name: 'choose' })),
          textOf(await sdk.callTool({ name: 'ask' })),
          textOf(await sdk.callTool({ name: 'roots' })),
        ]),
      );
      expect(said).toEqual(['ada', 'bob', 'eve', 'kim'].map((name) => [name, `the client said ${name}`, `file:///${name}`]));
    }
    await Promise.all(clients.map(({ sdk }) => sdk.close()));
    await until(() => upstream.streams.size === 0, { what: 'the end of the connections' });
  });

  it('ends after half an hour without a message, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const [gateway] = gateways as [SseSessions];
      const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'ada', version: '1' } };
      const { address } = await gateway.open(parts(), { jsonrpc: '2.0', id: 1, method: 'initialize', params });
      const check = () =>
        gateway.run(address, { action: 'check', message: {}, headers: [] }, { onEvent: () => {}, onCancel: () => {} });
      for (let round = 0; round < 3; round++) {
        vi.advanceTimersByTime(1_700_000);
        expect(await check()).toEqual({});
      }
      vi.advanceTimersByTime(1_900_000);
      await expect(check()).rejects.toThrow('The session has ended');
    } finally {
      vi.useRealTimers();
    }
    await until(() => upstream.streams.size === 0, { what: 'the end of the connection' });
  });

  it('passes changed lists, updates of resources and progress', async () => {
    const { sdk } = await connect('ada');
    const seen: string[] = [];
    sdk.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void seen.push(method));
    sdk.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void seen.push(params.uri));
    await sdk.subscribeResource({ uri: 'file:///readme.md' });
    await upstream.change('file:///readme.md');
    await until(() => seen.length === 2, { what: 'both notices' });
    expect(seen.sort()).toEqual(['file:///readme.md', 'notifications/tools/list_changed']);
    const progress: number[] = [];
    await sdk.callTool({ name: 'progress' }, undefined, { onprogress: (one) => void progress.push(one.progress) });
    expect(progress).toEqual([1, 2]);
    await sdk.close();
  });

  it('ends with its connection', async () => {
    const { transport } = await connect('ada');
    for (const stream of upstream.streams.values()) await stream.close();
    const address = transport.at as SseSessionAddress;
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const gateway of gateways) {
      await until(
        () =>
          gateway.run(address, { action: 'request', message, headers: [] }, { onEvent: () => {}, onCancel: () => {} }).then(
            () => false,
            ({ detail }) => detail === 'no session',
          ),
        { what: 'the end of the session' },
      );
    }
  });
});
