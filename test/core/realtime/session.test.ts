import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import {
  closeCodes,
  type FrameListener,
  type FrameSocket,
  type SessionOutcome,
  type SessionStart,
} from '../../../core/contract/plugin/sessions/web-socket.ts';
import { checkModels } from '../../../core/realtime/check-models.ts';
import { Session } from '../../../core/realtime/session.ts';

/** A socket of a peer that reads nothing. */
class DeafSocket implements FrameSocket {
  bufferedBytes = 0;
  listener: FrameListener | null = null;
  readonly calls: string[] = [];
  listen(listener: FrameListener) {
    this.listener = listener;
  }
  send() {
    return false;
  }
  ping() {}
  pause() {}
  resume() {}
  close(code: number | null) {
    this.calls.push(`close ${code}`);
  }
  terminate() {
    this.calls.push('terminate');
  }
}

function start(inspect: NonNullable<SessionStart['inspect']>, bufferedBytesMax = 1_000_000) {
  const client = new DeafSocket();
  const provider = new DeafSocket();
  const outcomes: SessionOutcome[] = [];
  const given = {
    ...{ client, provider, inspect, readUsage: null, firstMessage: null, readsBinary: false, isEstimated: false },
    ctx: { plan: { onChunk: [] } } as unknown as RequestContext,
    counted: () => null,
    looked: () => null,
    checkpoint: () => {},
    end(outcome: SessionOutcome, recorded: () => void) {
      outcomes.push(outcome);
      recorded();
    },
  };
  const limits = { idleMs: 0, totalMs: 0, recordMs: 0, jsonValuesMax: 500_000, bufferedBytesMax };
  new Session(given, limits, { now: () => 0, elapsed: () => 0 }, () => {}).start();
  const send = (text: string) => client.listener?.onMessage(Buffer.from(text), false);
  return { client, provider, outcomes, send };
}

it('session: ends if a client does not read the events about its denied messages', () => {
  const { outcomes, send, client } = start(() => ({ forward: [], toClient: Buffer.alloc(1000) }));
  for (let i = 0; i < 10_000 && outcomes.length === 0; i++) send('denied');
  expect(outcomes).toMatchObject([{ kind: 'cut', error: { message: 'The client receives messages too slowly' } }]);
  expect(client.calls).toEqual(['close 1013']);
});

it('session: ends at once if the client disconnects while its messages are inspected', () => {
  const { outcomes, send, client, provider } = start(() => new Promise(() => {}));
  send('one');
  send('two');
  client.listener?.onClose(closeCodes.cut, '', false);
  expect(outcomes).toMatchObject([{ kind: 'aborted' }]);
  expect(provider.calls).toEqual(['close 1001']);
});

it.each([
  ['client', ` [${'{},'.repeat(200_000)}`, 'body_too_large', 'close 1009', 'close 1001'],
  ['client', `{"a":${'['.repeat(10_000)}`, 'bad_request', 'close 1009', 'close 1001'],
  ['provider', `{"usage":[${'{},'.repeat(200_000)}`, 'upstream_invalid', 'close 1014', 'terminate'],
] as const)('session: ends if the %s sends JSON that would take long to parse', (from, text, code, toClient, toProvider) => {
  const { outcomes, client, provider } = start(() => undefined);
  const sender = { client, provider }[from];
  sender.listener?.onMessage(Buffer.from(JSON.stringify({ text: '[{},'.repeat(200_000) })), false);
  expect(outcomes).toEqual([]);
  sender.listener?.onMessage(Buffer.from(text), false);
  expect(outcomes).toMatchObject([{ kind: 'cut', error: { code } }]);
  expect([client.calls.at(-1), provider.calls.at(-1)]).toEqual([toClient, toProvider]);
});

it('session: binary events with too many values are not forwarded if models are restricted', () => {
  const data = Buffer.from(` {"a":[${'{},'.repeat(400_000)}{}]}`);
  const decision = checkModels({ data, isBinary: true, isFromClient: true }, () => {});
  expect(decision?.forward).toEqual([]);
  expect(String(decision?.toClient)).toContain('bad_request');
});
