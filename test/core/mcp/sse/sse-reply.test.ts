import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { sendRead } from '../../../../core/mcp/sse/sse-reply.ts';
import { newGate } from '../../../support/gate.ts';

it('messages of a server that wait for their checks are limited to 1 MiB, and later ones are sent again', async () => {
  const sent: JsonObject[] = [];
  const checked = newGate();
  const events = sendRead({ send: (message) => void sent.push(message) }, { read: () => checked.opened.then(() => null) });
  const message = (id: number) => ({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { id, data: 'x'.repeat(100_000) },
  });
  for (let id = 0; id < 100; id++) events.send(message(id));
  checked.open();
  await events.sent();
  // The first one is with the checks, and ten wait.
  expect(sent.map(({ params }) => (params as JsonObject).id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  events.send(message(100));
  await events.sent();
  expect(sent.at(-1)).toEqual(message(100));
});
