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

/** Reads one message of a call without checks. */
function readOne(message: object, more: Partial<Reading> = {}) {
  const call = { id: 9, method: 'tools/call', replyLength: 0, errorCode: null, isToolError: false } as unknown as Reading['call'];
  const server = { hasFilters: false, headers: {} } as unknown as Reading['server'];
  const read = messageReader({ server, call, checks: null, session: null, ...more }).read(JSON.stringify(message));
  return { call, read };
}

it.each([
  ['a failed tool', { result: { content: [], isError: true } }, [null, true]],
  ['a tool that succeeded', { result: { content: [], isError: false } }, [null, false]],
  ['an error', { error: { code: -32602, message: 'unknown tool' } }, [-32602, false]],
])('%s is noted for the record, and the message passes', async (_what, rest, noted) => {
  const { call, read } = readOne({ jsonrpc: '2.0', id: 9, ...rest });
  expect(await read).toBeNull();
  expect([call.errorCode, call.isToolError]).toEqual(noted);
});

it.each([
  ['a notification', { method: 'notifications/progress' }],
  ['a request', { id: 'q', method: 'sampling/createMessage' }],
])('%s is refused as the reply to a request, and passes in a stream', async (_what, rest) => {
  const message = { jsonrpc: '2.0', ...rest };
  expect(() => readOne(message, { isReply: true })).toThrow('a reply without a result and without an error');
  expect(await readOne(message).read).toBeNull();
});

it('questions in a session of the gateway are replied to, notifications pass', async () => {
  const questions: object[] = [];
  const replyTo = (question: object) => void questions.push(question);
  const question = { jsonrpc: '2.0', id: 'q', method: 'roots/list' };
  expect(await readOne(question, { replyTo }).read).toBe('');
  expect(await readOne({ jsonrpc: '2.0', method: 'notifications/progress' }, { replyTo }).read).toBeNull();
  expect(questions).toEqual([question]);
});
