import { afterEach, expect, it, vi } from 'vitest';
import type { Circuits } from '../../../../core/contract/plugin/services/circuits.ts';
import { createOpenStreams } from '../../../../core/json-rpc/open-streams.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';
import { createOwnSessions } from '../../../../core/mcp/sessions/own-sessions.ts';
import { questionStreams } from '../../../../core/mcp/sessions/question-stream.ts';
import { replyWith } from '../../../../core/test-kit/provider-scripts.ts';
import { newScriptedTransport } from '../../../../core/test-kit/scripted-transport.ts';

const minuteMs = 60_000;
const server = {
  document: { id: 's', workspaceId: 'w', circuit: null },
  ...{ origin: 'http://s', path: '/', headers: {}, fingerprint: 'one' },
} as unknown as ServerSettings;

afterEach(() => void vi.useRealTimers());

it('a session of ten minutes is replaced, and closed after five more, in which its calls can end', async () => {
  vi.useFakeTimers();
  const { transport, script, calls } = newScriptedTransport();
  script(replyWith(200, ''));
  const clock = { now: () => Date.now(), elapsed: () => Date.now() };
  let begun = 0;
  const sessions = createOwnSessions(
    transport,
    clock,
    { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    {} as Circuits,
    async () => ({ revision: '2025-11-25', sessionId: `session-${++begun}`, opened: {} }),
    createOpenStreams(),
    questionStreams(clock, async () => true),
  );
  const get = async () => (await sessions.get(server, 'ada')).sessionId;
  for (let minute = 0; minute < 10; minute += 2) {
    expect(await get()).toBe('session-1');
    await vi.advanceTimersByTimeAsync(2 * minuteMs);
  }
  expect(await get()).toBe('session-2');
  await vi.advanceTimersByTimeAsync(5 * minuteMs - 1);
  expect(calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls.map(({ method, headers }) => [method, headers.includes('session-1')])).toEqual([['DELETE', true]]);
});
