import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { Stage } from '../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  failWith,
  replyWith,
  type Script,
} from '../../../core/test-kit/pipeline-harness.ts';

/** A plugin with one hook, which counts the calls of its `onEnd`. */
function probe(name: string, stage: Stage, hooks: CoreHooks, ends: Outcome[]): CorePlugin {
  return defineCorePlugin({
    name,
    stage,
    reads: { response: 'chunks' },
    config: v.optional(v.strictObject({})),
    onConfig: () => ({
      ...hooks,
      onEnd(ctx, outcome) {
        ends.push(outcome);
        hooks.onEnd?.(ctx, outcome);
      },
    }),
  }) as CorePlugin;
}

const boom = (): never => {
  throw new Error('boom with secret sk-12345');
};
const reject = async (): Promise<never> => {
  throw new Error('boom later');
};
const reply = { status: 203, headers: ['content-type', 'text/plain'], body: 'instead' };

const behaviours: Record<string, CoreHooks> = {
  'does nothing': {},
  'throws in onRequest': { onRequest: boom },
  'rejects in onRequest': { onRequest: reject },
  'refuses in onRequest': {
    onRequest: () => {
      throw new GatewayError('forbidden');
    },
  },
  'replies in onRequest': { onRequest: () => reply },
  'throws in onAttempt': { onAttempt: boom },
  'rejects in onAttempt': { onAttempt: reject },
  'replies in onAttempt': { onAttempt: () => reply },
  'throws in onReply': { onReply: boom },
  'rejects in onReply': { onReply: reject },
  'replies in onReply': { onReply: () => reply },
  'replies later in onReply': { onReply: async () => reply },
  'throws in onAttemptResponse': { onAttemptResponse: boom },
  'rejects in onAttemptResponse': { onAttemptResponse: reject },
  'passes in onAttemptResponse': { onAttemptResponse: () => ({ action: 'pass' }) },
  'denies in onAttemptResponse': { onAttemptResponse: () => ({ action: 'deny', reply }) },
  'denies later in onAttemptResponse': { onAttemptResponse: async () => ({ action: 'deny', reply }) },
  'fails the attempt in onAttemptResponse': {
    onAttemptResponse: () => ({ action: 'fail', error: new GatewayError('upstream_invalid') }),
  },
  'throws in onChunk': { onChunk: boom },
  'drops every chunk': { onChunk: () => null },
  'throws in onError': { onError: boom },
  'replies in onError': { onError: () => reply },
  'throws in onEnd': { onEnd: boom },
};

const upstreams: Record<string, { script: Script; stream: boolean; path?: string }> = {
  'a plain reply': { script: replyWith(200, chatReply('hello')), stream: false },
  'a streamed reply': { script: chatStream(['a', 'b']), stream: true },
  'an error status': { script: replyWith(500, { error: { message: 'down' } }), stream: false },
  'an error status on a streamed call': { script: replyWith(429, { error: { message: 'slow down' } }), stream: true },
  'no connection': { script: failWith(new GatewayError('upstream_connect')), stream: false },
  'a stream cut before its first byte': {
    script: chatStream(['a'], { cutAfter: 0, error: new GatewayError('upstream_reset') }),
    stream: true,
  },
  'a stream cut in the middle': {
    script: chatStream(['a', 'b'], { cutAfter: 1, error: new GatewayError('upstream_reset') }),
    stream: true,
  },
  'a stream without an end': { script: chatStream(['a', 'b'], { cutAfter: 1 }), stream: true },
  'a reply that is no JSON': { script: replyWith(200, 'not json'), stream: false },
  'a piped reply': { script: replyWith(200, 'bytes', ['content-type', 'text/plain']), stream: false, path: '/v1/things' },
};

describe('onEnd and the record', () => {
  for (const [behaviour, hooks] of Object.entries(behaviours)) {
    for (const [upstream, given] of Object.entries(upstreams)) {
      it(`come exactly once if a plugin ${behaviour} and the provider gives ${upstream}`, async () => {
        const ends: Outcome[] = [];
        const bystander: Outcome[] = [];
        const gateway = createHarness({
          plugins: [probe('probe', 'limits', hooks, ends), probe('bystander', 'output-guardrails', {}, bystander)],
        });
        gateway.script(given.script);
        const sink = await gateway.send({
          path: given.path ?? '/v1/chat/completions',
          headers: { 'x-svc-provider': '@one' },
          body: { model: 'gpt-5', messages: [], stream: given.stream },
        });
        expect(sink.finished).toBe(true);
        expect(ends).toHaveLength(1);
        expect(bystander).toHaveLength(1);
        expect(gateway.records).toHaveLength(1);
        expect(gateway.records[0]?.outcome).toBe(ends[0]?.kind);
        expect(sink.text).not.toContain('sk-12345');
      });
    }
  }

  for (const [upstream, given] of Object.entries(upstreams)) {
    it(`come exactly once if the client leaves before the provider gives ${upstream}`, async () => {
      const ends: Outcome[] = [];
      const gateway = createHarness({ plugins: [probe('probe', 'limits', {}, ends)] });
      gateway.script(given.script);
      const sink = await gateway.send({
        path: given.path ?? '/v1/chat/completions',
        headers: { 'x-svc-provider': '@one' },
        body: { model: 'gpt-5', messages: [], stream: given.stream },
        prepare: (leaving) => queueMicrotask(() => leaving.leave()),
      });
      expect(sink.aborted).toBe(true);
      expect(ends).toHaveLength(1);
      expect(gateway.records).toHaveLength(1);
      expect(gateway.records[0]).toMatchObject({ outcome: 'aborted', status: 499 });
    });
  }

  it('also come for a request that auth rejected', async () => {
    const ends: Outcome[] = [];
    const gateway = createHarness({ plugins: [probe('probe', 'limits', {}, ends)] });
    await gateway.send({ headers: { 'x-svc-api-key': 'bad' } });
    expect(ends).toHaveLength(1);
    expect(gateway.records[0]).toMatchObject({ outcome: 'refused', status: 401 });
  });
});
