import { expect, it } from 'vitest';
import { SseInbox } from '../../../../core/mcp/sse/sse-inbox.ts';

it('holds 100 messages for a client without a stream, and counts older ones that it drops', async () => {
  let dropped = 0;
  const inbox = new SseInbox(() => dropped++);
  for (let at = 0; at < 103; at++) inbox.deliver({ method: 'notifications/tools/list_changed', at });
  const received: unknown[] = [];
  const stream = inbox.listen(
    ({ at }) => void received.push(at),
    () => {},
  );
  inbox.close();
  await stream;
  expect([dropped, received.length, received[0], received.at(-1)]).toEqual([3, 100, 3, 102]);
});
