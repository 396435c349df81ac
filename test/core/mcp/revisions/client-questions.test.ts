import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPeers } from '../../../../core/mcp/peers/peers.ts';
import { type ClientQuestions, createClientQuestions } from '../../../../core/mcp/revisions/client-questions.ts';
import { peerChannels } from '../../../support/fakes/peer-channels.ts';

afterEach(() => void vi.useRealTimers());

/** Two gateway processes. */
function two() {
  const channels = peerChannels();
  const create = () => createClientQuestions(createPeers([channels.join()], new Uint8Array(32)), 60_000);
  return [create(), create()] as const;
}

const question = { session: 's', method: 'elicitation/create', params: { message: 'Who?' } };

/** Asks at a process. Returns the id of the question, its result, and how to end the wait. */
function ask(questions: ClientQuestions) {
  let id: unknown;
  let cancel = () => {};
  const result = questions.ask(
    question,
    (message) => {
      id = message.id;
    },
    (given) => {
      cancel = given;
    },
  );
  return { id, result, cancel };
}

describe('a question to a client', () => {
  it('gets the reply that arrives at another process', async () => {
    const [one, other] = two();
    const { id, result } = ask(one);
    await other.settle('s', { jsonrpc: '2.0', id, result: { action: 'decline' } });
    expect(await result).toEqual({ action: 'decline' });
  });

  it('gets no reply of another session, at any process', async () => {
    const [one, other] = two();
    const { id, result } = ask(one);
    for (const each of [one, other]) await each.settle('another', { id, result: { action: 'accept' } });
    await one.settle('s', { id, result: { action: 'decline' } });
    expect(await result).toEqual({ action: 'decline' });
    await one.settle('s', { id: 'unknown', result: {} });
  });

  it('fails if the client refuses, does not reply in time, or disconnects', async () => {
    vi.useFakeTimers();
    const [one] = two();
    const refused = ask(one);
    await one.settle('s', { id: refused.id, error: { code: -1, message: 'not now' } });
    const text = 'The client refused elicitation/create, which the MCP server needs: not now';
    await expect(refused.result).rejects.toMatchObject({ rpcCode: -32603, message: text });
    const late = expect(ask(one).result).rejects.toMatchObject({ code: 'request_timeout' });
    await vi.advanceTimersByTimeAsync(60_000);
    await late;
    const { result, cancel } = ask(one);
    cancel();
    await expect(result).rejects.toMatchObject({ code: 'client_closed' });
  });
});
