import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { listItems } from '../../../../core/mcp/lists/list-items.ts';
import type { OwnClientParts, OwnSession } from '../../../../core/mcp/sessions/own-client.ts';

/** Lists the resource templates of a server with this reply. */
function listTemplates(reply: JsonObject) {
  const session = { revision: '2024-11-05', sessionId: null, opened: {}, sse: { request: () => Promise.resolve(reply) } };
  return listItems({} as OwnClientParts, session as unknown as OwnSession, 'resources/templates/list');
}

it('a list without a method at the server (-32601) has no items', async () => {
  expect(await listTemplates({ error: { code: -32601, message: 'Method not found' } })).toEqual([]);
});

it.each([
  [{ error: { code: -32603, message: 'out of order' } }, 'replied with an error: out of order'],
  [{}, 'sent no result'],
])('a list with the reply %j fails', async (reply, message) => {
  await expect(listTemplates(reply)).rejects.toThrow(message);
});
