import { expect, it } from 'vitest';
import { readFrame } from '../../../core/json-rpc/message-reader.ts';
import { messageReader, type Reading } from '../../../core/mcp/server/server-messages.ts';

const call = { id: 1, method: 'tools/call', replyLength: 0 } as Reading['call'];
const server = { hasFilters: false, headers: {} } as unknown as Reading['server'];

it('an event with an id and empty data passes a reader that must check every message', async () => {
  const reader = messageReader({ server, call, checks: { checkResult: (_id, given) => given, checkOther: null }, session: null });
  expect(await readFrame(reader, 'id: 1\ndata: \n\n')).toBe('id: 1\ndata: \n\n');
  expect(await readFrame(reader, 'id: 1\ndata\n\n')).toBe('id: 1\ndata\n\n');
  expect(() => readFrame(reader, 'id: 2\ndata: no message\n\n')).toThrow('The MCP server sent a reply that is no message');
});
