import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { listItems, readItems } from '../../../../core/mcp/lists/list-items.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';
import type { OwnClientParts, OwnSession } from '../../../../core/mcp/sessions/own-client.ts';
import type { OwnSessions } from '../../../../core/mcp/sessions/own-sessions.ts';

/** Lists the resource templates of a server with this reply. */
function listTemplates(reply: JsonObject) {
  const session = { revision: '2024-11-05', sessionId: null, opened: {}, sse: { request: () => Promise.resolve(reply) } };
  return listItems(
    { server: { headers: {} } } as unknown as OwnClientParts,
    session as unknown as OwnSession,
    'resources/templates/list',
  );
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

describe('a list in the session of a caller, at a server that kept no sessions', () => {
  const readAfter = async (detail: string) => {
    const opened = ['', 'one'].map((id) => ({ sessionId: id || null, opened: {} }));
    const sessions = {
      get: async () => opened[0],
      drop: () => void opened.shift(),
      async call() {
        if (opened[0]?.sessionId === null) throw new GatewayError('upstream_status', { detail });
        return [{ name: 'echo' }];
      },
    };
    const items = await readItems(sessions as unknown as OwnSessions, {} as ServerSettings, 'ada', 'tools/list');
    return { items, opened };
  };

  it('is read again in a new session if the server refuses the request with 400', async () => {
    expect(await readAfter('status 400')).toEqual({ items: [{ name: 'echo' }], opened: [{ sessionId: 'one', opened: {} }] });
  });

  it('fails after any other error', async () => {
    await expect(readAfter('status 500')).rejects.toThrow(GatewayError);
  });
});
