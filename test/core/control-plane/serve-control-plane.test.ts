import { setImmediate as nextTurn } from 'node:timers/promises';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { replyToControlPlane } from '../../../core/control-plane/serve-control-plane.ts';
import { FakeSink, fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { until } from '../../support/until.ts';

const clusterKey = 'a-key-of-the-cluster-that-is-long-enough';

/** Requests that the test replies to, or that abort when the caller disconnects. */
function newQuestions() {
  const open: { readonly reply: (body: object) => void; readonly signal: AbortSignal }[] = [];
  const serve = replyToControlPlane({
    clusterKey,
    question: v.object({ owner: v.string() }),
    atOnceMax: 3,
    owner: { of: ({ owner }) => owner, max: 2 },
    reply: (_question, signal) =>
      new Promise((resolve, reject) => {
        open.push({ reply: resolve, signal });
        signal.addEventListener('abort', () => reject(new Error('left')));
      }),
  });
  const ask = (body: object, key = clusterKey): FakeSink => {
    const sink = new FakeSink();
    serve(fakeRequest({ headers: { authorization: `Bearer ${key}` }, body: body as JsonObject }, ''), sink);
    return sink;
  };
  return { open, ask };
}

describe('requests from the control plane', () => {
  it('are served only to it, in the agreed shape', async () => {
    const { open, ask } = newQuestions();
    expect(ask({ owner: 'a' }, 'another').status).toBe(404);
    const malformed = ask({});
    await malformed.done;
    expect(malformed.status).toBe(400);
    const good = ask({ owner: 'a' });
    await until(() => open.length === 1);
    open[0]?.reply({ said: true });
    await good.done;
    expect([good.status, good.text]).toEqual([200, '{"said":true}']);
  });

  it('leave capacity for other owners', async () => {
    const { open, ask } = newQuestions();
    ask({ owner: 'a' });
    ask({ owner: 'a' });
    const third = ask({ owner: 'a' });
    await third.done;
    expect(third.status).toBe(503);
    await nextTurn();
    ask({ owner: 'b' });
    await until(() => open.length === 3);
    const beyond = ask({ owner: 'c' });
    await beyond.done;
    expect(beyond.status).toBe(503);
  });

  it('release their slot when the control plane disconnects', async () => {
    const { open, ask } = newQuestions();
    const first = ask({ owner: 'a' });
    ask({ owner: 'a' });
    await until(() => open.length === 2);
    first.leave();
    expect(open[0]?.signal.aborted).toBe(true);
    await nextTurn();
    ask({ owner: 'a' });
    await until(() => open.length === 3);
  });
});
