import { expect, it } from 'vitest';
import { messageReader, type Reading } from '../../../../core/mcp/server/server-messages.ts';

it.each([
  ['the id null', '"id":null,'],
  ['no id', ''],
])('an error with %s that is there twice is sent as it was checked', async (_what, id) => {
  const call = { id: 9, method: 'tools/call', replyLength: 0 } as Reading['call'];
  const server = { hasFilters: false, headers: {} } as unknown as Reading['server'];
  const reader = messageReader({ server, call, checks: { checkResult: (_id, given) => given, checkOther: null }, session: null });
  const error = (message: string): string => `"error":{"code":-32000,"message":"${message}"}`;
  const text = await reader.read(`{"jsonrpc":"2.0",${id}${error('forbidden')},${error('fine')}}`);
  expect(text).toContain('fine');
  expect(text).not.toContain('forbidden');
  expect(await reader.read(`{"jsonrpc":"2.0",${id}${error('fine')}}`)).toBeNull();
});

it('a message that must be checked is not parsed if it has too many values', () => {
  const call = { id: 9, method: 'tools/call', replyLength: 0 } as Reading['call'];
  const server = { hasFilters: false, headers: {} } as unknown as Reading['server'];
  const reader = messageReader({ server, call, checks: { checkResult: (_id, given) => given, checkOther: null }, session: null });
  const content = Array.from({ length: 500_000 }, () => ({}));
  expect(() => reader.read(JSON.stringify({ jsonrpc: '2.0', id: 9, result: { content } }))).toThrow(
    'The MCP server sent a reply that has too many values',
  );
});
