import { expect, it } from 'vitest';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';
import { request } from '../../../../core/mcp/sessions/own-client.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { newScriptedTransport } from '../../../../core/test-kit/scripted-transport.ts';

const server = {
  document: { workspaceId: 'w', slug: 's' },
  origin: 'http://s',
  path: '/',
  headers: {},
} as unknown as ServerSettings;
const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 };
const session = { revision: '2025-11-25', sessionId: null, opened: {} };
const notice = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}';
const response = 'data: {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}';

it.each([
  ['ends with a blank line', `${notice}\n\n${response}\n\n`],
  ['ends with the line of its last event', `${notice}\n\n${response}\n`],
  ['ends with the data of its last event', `${notice}\r\n\r\n${response}`],
])('own client of an MCP server: reads the reply in a stream that %s', async (_, stream) => {
  const { transport, script } = newScriptedTransport();
  script(streamOf([stream]));
  expect(await request({ sender: transport, server, timeouts }, session, 'tools/list')).toEqual({ tools: [] });
});

it('own client of an MCP server: refuses a stream of more than 8 MiB', async () => {
  const { transport, script } = newScriptedTransport();
  script(streamOf(Array.from({ length: 9 }, () => Buffer.alloc(1024 * 1024, ': comment '))));
  await expect(request({ sender: transport, server, timeouts }, session, 'tools/list')).rejects.toThrow(
    'more than 8388608 bytes',
  );
});

it.each(['text/event-stream', 'application/json'])(
  'own client of an MCP server: parses no message with too many values: %s',
  async (type) => {
    const { transport, script } = newScriptedTransport();
    const json = `{"jsonrpc":"2.0","id":2,"result":{"tools":[${'{},'.repeat(400_001)}1]}}`;
    script(streamOf([type === 'application/json' ? json : `data: ${json}\n\n`], type));
    await expect(request({ sender: transport, server, timeouts }, session, 'tools/list')).rejects.toThrow('too many values');
  },
);
