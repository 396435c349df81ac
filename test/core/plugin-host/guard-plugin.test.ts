import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { CorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { Hooks, Plugin, Reply } from '../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { guardPlugin } from '../../../core/plugin-host/guard-plugin.ts';
import { tryExamples } from '../../../core/plugin-host/load-plugins.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  type FakeRequest,
  failWith,
  replyWith,
} from '../../../core/test-kit/pipeline-harness.ts';
import { until } from '../../support/until.ts';

/** Hooks as a third-party author might write them, without a compiler to check them. */
type LooseHooks = Record<string, unknown>;

const never = (): Promise<never> => new Promise(() => {});
const late = 40;

function pluginOf(hooks: LooseHooks | (() => unknown), more: Partial<Plugin> = {}): CorePlugin {
  const plugin: Plugin = {
    apiVersion: 1,
    name: 'odd',
    stage: 'output-guardrails',
    reads: { response: hooks instanceof Function || !('onAttemptResponse' in hooks) ? 'chunks' : 'body' },
    config: v.optional(v.unknown()),
    onConfig: () => (typeof hooks === 'function' ? hooks() : hooks) as Hooks,
    ...more,
  };
  return guardPlugin(plugin, { hookTimeoutMs: late });
}

const chat: Partial<FakeRequest> = {
  method: 'POST',
  path: '/v1/chat/completions',
  headers: { 'x-svc-provider': '@one' },
  body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
};
const streamed = { ...chat, body: { ...(chat.body as object), stream: true } };

async function send(hooks: LooseHooks, request: Partial<FakeRequest> = chat, more: Partial<Plugin> = {}) {
  const harness = createHarness({ plugins: [pluginOf(hooks, more)] });
  harness.script((request === streamed ? chatStream(['secret', 'words']) : replyWith(200, chatReply('secret words'))) as never);
  const sink = await harness.send(request);
  return { sink, text: Buffer.concat(sink.chunks).toString(), harness };
}

class Hostile {
  get status(): number {
    throw new Error('a getter');
  }
}
const good = { status: 200, headers: ['a', 'b'], body: 'x' };
const badReplies: Record<string, unknown> = {
  'a status below 200': { ...good, status: 99 },
  'a status above 599': { ...good, status: 700 },
  'a status that is a text': { ...good, status: '200' },
  'an odd list of headers': { ...good, headers: ['x'] },
  'headers that are no list': { ...good, headers: 5 },
  'no headers': { status: 200, body: 'x' },
  'a header value that is a number': { ...good, headers: ['content-length', 5] },
  'a body that is an object': { ...good, body: { a: 1 } },
  'no body': { status: 200, headers: [] },
  'a text': 'hello',
  'a number': 7,
  false: false,
  'a list': [],
  'a getter that throws': new Hostile(),
  'a proxy that throws': new Proxy(
    {},
    {
      get: () => {
        throw new Error('a trap');
      },
    },
  ),
};

describe('a malformed plugin result is a 500 that names the plugin', () => {
  for (const [what, reply] of Object.entries(badReplies)) {
    it.each(['onRequest', 'onAttempt', 'onReply'])(`${what}, from %s, at once and as a promise`, async (hook) => {
      for (const result of [() => reply, async () => reply]) {
        const { sink, text, harness } = await send({ [hook]: result });
        expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
        expect(text).not.toContain('secret words');
        expect(harness.records).toMatchObject([{ outcome: expect.anything() }]);
        expect(JSON.stringify(harness.logs)).toContain(`plugin odd, ${hook}:`);
      }
    });
  }

  it.each([
    ['onChunk', undefined],
    ['onChunk', 'text'],
    ['onChunk', Promise.resolve(new Uint8Array())],
    ['onAttemptResponse', 'text'],
    ['onAttemptResponse', { action: 'block' }],
    ['onAttemptResponse', { action: 'change' }],
    ['onAttemptResponse', { action: 'change', body: 'x', status: 99 }],
    ['onAttemptResponse', { action: 'deny', reply: { status: 99, headers: [], body: '' } }],
    ['onAttemptResponse', { action: 'deny' }],
    ['onAttemptResponse', { action: 'fail', error: 'no' }],
    ['onAttemptResponse', { action: 'pass', reason: 5 }],
  ])('%s with %s', async (hook, result) => {
    const { sink, text } = await send({ [hook]: () => result });
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
    expect(text).not.toContain('secret words');
  });

  it.each([
    ['a number', (head: { headers: unknown[] }) => head.headers.push('x-count', 5)],
    ['a name without a value', (head: { headers: unknown[] }) => head.headers.push('x-count')],
    [
      'a status',
      (head: { status?: unknown }) => {
        head.status = 'ok';
      },
    ],
  ])('%s in the head of a reply', async (_, change) => {
    for (const request of [chat, streamed]) {
      const { sink, text } = await send({ onReply: (_ctx: unknown, head: never) => void change(head) }, request);
      expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
    }
  });

  it.each(['text', { status: 99, headers: [], body: '' }, Promise.resolve(good)])('onOwnReply with %s', async (result) => {
    const { sink, text, harness } = await send({ onRequest: () => good, onOwnReply: () => result });
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
    expect(JSON.stringify(harness.logs)).toContain('plugin odd, onOwnReply:');
  });

  it('a malformed entry of ctx.replyHeaders, which is then on no reply', async () => {
    const { sink } = await send({ onRequest: (ctx: { replyHeaders: unknown[] }) => void ctx.replyHeaders.push('x-odd') });
    expect(sink.status).toBe(500);
    expect(sink.headers).not.toContain('x-odd');
    expect(sink.headers.length % 2).toBe(0);
  });
});

describe('a correct plugin reply', () => {
  it('is sent with header names in lower case, so that framing headers stay those of the gateway', async () => {
    const { sink, text } = await send({ onRequest: () => ({ status: 403, headers: ['Content-Length', '1'], body: 'no' }) });
    expect([sink.status, text]).toEqual([403, 'no']);
    expect(sink.headers).toContain('content-length');
    expect(sink.headers).not.toContain('Content-Length');
  });

  it('may be null or undefined: the request continues', async () => {
    for (const result of [null, undefined]) expect((await send({ onRequest: () => result })).text).toContain('secret words');
  });
});

describe('onOwnReply', () => {
  it('replaces the reply of a plugin, and leaves it if it returns nothing', async () => {
    const other = { status: 201, headers: ['X-Own', '1'], body: 'other' };
    const { sink, text } = await send({ onRequest: () => good, onOwnReply: () => other });
    expect([sink.status, sink.header('x-own'), text]).toEqual([201, '1', 'other']);
    for (const result of [null, undefined])
      expect((await send({ onRequest: () => good, onOwnReply: () => result })).text).toBe('x');
  });

  it('is not called for the reply of a provider', async () => {
    expect((await send({ onOwnReply: () => good })).text).toContain('secret words');
  });

  it('leaves a denial with status 200 a denial in the record', async () => {
    const plugins = [
      pluginOf(
        { onOwnReply: (_ctx: unknown, reply: Reply) => ({ ...reply, isDenial: undefined, body: 'denied' }) },
        { stage: 'record' },
      ),
      { ...pluginOf({}), name: 'denier', onConfig: () => ({ onRequest: () => ({ ...good, isDenial: true }) }) },
    ];
    const harness = createHarness({ plugins });
    const sink = await harness.send(chat);
    expect([sink.status, Buffer.concat(sink.chunks).toString()]).toEqual([200, 'denied']);
    expect(harness.records).toMatchObject([{ outcome: 'refused', status: 200 }]);
  });
});

describe('onChunk with null', () => {
  it.each([
    ['a plain reply', chat],
    ['a stream', streamed],
  ])('drops %s', async (_, request) => {
    const { sink, text } = await send({ onChunk: () => null }, request);
    expect([sink.status, text]).toEqual([200, '']);
  });
});

describe('the time limit of hooks', () => {
  it.each(['onRequest', 'onAttempt', 'onReply', 'onAttemptResponse'])('ends %s that never settles with a 500', async (hook) => {
    const { sink, text } = await send({ [hook]: never });
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
  });

  it('ends an onReply that never settles before the first byte of a stream', async () => {
    const { sink, text } = await send({ onReply: never }, streamed);
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
  });

  it('is the plugin’s own if it sets one', async () => {
    // Takes as long as two hooks that run into the default timeout.
    const slow = async () => {
      for (let count = 0; count < 2; count++) await send({ onRequest: never });
    };
    expect((await send({ onRequest: slow }, chat, { hookTimeoutMs: 60_000 })).sink.status).toBe(200);
  });

  it.each([
    ['the header of the request', { 'x-svc-provider': '@one', 'x-svc-request-timeout': '20' }],
    ['the config', { 'x-svc-config': JSON.stringify({ provider: '@one', request_timeout: 20 }) }],
  ])('ends with the timeout of %s', async (_, headers) => {
    for (const hook of ['onRequest', 'onAttempt']) {
      const { sink } = await send({ [hook]: never }, { ...chat, headers: headers as never }, { hookTimeoutMs: 60_000 });
      expect(sink.status).toBe(408);
    }
  });
});

describe('errors of plugins', () => {
  it('an error of a verdict that is no GatewayError is a 500 that names the plugin', async () => {
    const { sink, harness } = await send({ onAttemptResponse: () => ({ action: 'fail', error: new Error('broken') }) });
    expect([sink.status, sink.json]).toEqual([
      500,
      expect.objectContaining({ error: expect.objectContaining({ message: expect.stringContaining('plugin odd') }) }),
    ]);
    expect(JSON.stringify(harness.logs)).toContain('plugin odd, onAttemptResponse: broken');
  });

  it('a rejected promise of a synchronous hook is logged, not left unhandled', async () => {
    const { sink, harness } = await send({ onEnd: async () => Promise.reject(new Error('too late')) });
    expect(sink.status).toBe(200);
    await until(() => JSON.stringify(harness.logs).includes('too late'));
  });

  it.each(['onError', 'onEnd'])('an exception in %s is logged with the plugin and its stack', async (hook) => {
    const broken = (): never => {
      throw hook === 'onEnd' ? new GatewayError('forbidden', { message: 'broken' }) : new Error('broken');
    };
    const harness = createHarness({ plugins: [pluginOf({ [hook]: broken })] });
    harness.script(failWith(new GatewayError('upstream_reset')));
    await harness.send(chat);
    expect(harness.logs).toMatchObject([
      { fields: { reason: `plugin odd, ${hook}: broken`, stack: expect.stringContaining('guard-plugin.test.ts') } },
    ]);
  });

  it('an exception in onClose is logged with the plugin and its stack', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const { harness } = await send({ onClose: broken });
    harness.plans.close();
    expect(harness.logs).toMatchObject([
      { fields: { reason: 'plugin odd, onClose: broken', stack: expect.stringContaining('guard-plugin.test.ts') } },
    ]);
  });

  it.each(['onChunk', 'onOwnReply'])('an asynchronous %s is a 500 whose log states the reason', async (hook) => {
    const { sink, harness } = await send({
      [hook]: async () => undefined,
      ...(hook === 'onChunk' ? {} : { onRequest: () => good }),
    });
    expect(sink.status).toBe(500);
    expect(harness.logs).toMatchObject([
      { fields: { reason: `plugin odd, ${hook}: returned a promise, but this hook is synchronous` } },
    ]);
  });

  it('an unknown code of a GatewayError is named, with the one that was meant', async () => {
    const { harness } = await send({
      onRequest: async () => {
        throw new GatewayError('forbiden' as 'forbidden');
      },
    });
    expect(JSON.stringify(harness.logs)).toContain('GatewayError: unknown code forbiden; did you mean forbidden?');
    expect(() => new GatewayError('constructor' as 'forbidden')).toThrow(
      /unknown code constructor; expected one of invalid_api_key, /,
    );
  });

  it('a malformed result of onError is logged, and the client gets the original error', async () => {
    const harness = createHarness({ plugins: [pluginOf({ onError: () => ({ status: 99 }) })] });
    harness.script(failWith(new GatewayError('upstream_reset')));
    const sink = await harness.send(chat);
    expect(sink.status).toBe(502);
    expect(JSON.stringify(harness.logs)).toContain('plugin odd, onError');
  });

  /** An error created by another copy of the package. */
  class GatewayErrorOfOtherCopy extends Error {
    code = 'forbidden';
    status = 403;
    param = null;
    errors = null;
    detail = null;
    retryAfterMs = null;
    get [Symbol.for('svc-gateway.GatewayError')]() {
      return true;
    }
  }

  it.each([
    ['this copy of the package', new GatewayError('forbidden', { message: 'not for you' })],
    ['another copy of the package', new GatewayErrorOfOtherCopy('not for you')],
  ])('a GatewayError of %s rejects the request', async (_, error) => {
    for (const hook of [
      () => {
        throw error;
      },
      () => Promise.reject(error),
    ]) {
      const { sink, text } = await send({ onRequest: hook });
      expect([sink.status, text]).toEqual([403, expect.stringContaining('not for you')]);
    }
  });

  it('another exception is a 500 that names the plugin, and its message is only in the log', async () => {
    const { sink, text, harness } = await send({
      onRequest: () => {
        throw new Error('db password');
      },
    });
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
    expect(text).not.toContain('db password');
    expect(JSON.stringify(harness.logs)).toContain('plugin odd, onRequest: db password');
  });

  it.each([null, undefined, Object.create(null)])('a thrown %s is handled the same way', async (thrown) => {
    const { sink, text } = await send({
      onRequest: () => {
        throw thrown;
      },
    });
    expect([sink.status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
  });
});

describe('the result of onConfig', () => {
  it.each([
    ['a misspelt hook', () => ({ onRequset: () => undefined }), 'onRequset: unknown field; did you mean onRequest?'],
    ['an unknown hook', () => ({ onRequestHeaders: () => undefined }), 'onRequestHeaders: unknown hook'],
    ['a hook that is no function', () => ({ onRequest: 5 }), 'onRequest: got number, expected a function'],
    ['a promise', async () => null, 'got a promise: onConfig must be synchronous'],
    ['a text', () => 'hooks', 'got string, expected an object of hooks'],
  ])('stops the start if it has %s, and names it', (_, hooks, reason) => {
    const start = () => createHarness({ plugins: [pluginOf(hooks)] });
    expect(start).toThrow(expect.objectContaining({ detail: expect.stringContaining(`plugin odd, onConfig: ${reason}`) }));
  });

  it('can be a class instance: its hooks are called on it, and other methods are ignored', async () => {
    class Counter {
      seen = 0;
      onRequest() {
        this.#count();
        return { status: 200, headers: [], body: String(this.seen) };
      }
      #count() {
        this.seen++;
      }
      summary() {
        return this.seen;
      }
    }
    const harness = createHarness({ plugins: [pluginOf(() => new Counter())] });
    expect(Buffer.concat((await harness.send(chat)).chunks).toString()).toBe('1');
  });
});

describe('the example of a plugin', () => {
  const config = v.optional(v.strictObject({ words: v.array(v.string()) }));
  const services = { settingNames: { secrets: [] } } as never;

  it('is compiled at start, so hooks that only some configs have are checked too', () => {
    const closed: string[] = [];
    const make = (hooks: LooseHooks) =>
      pluginOf({}, { config, example: { words: [] }, onConfig: (given) => (given ? (hooks as Hooks) : null) });
    expect(() => tryExamples([make({ onChunks: () => null })], services)).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('did you mean onChunk?') }),
    );
    tryExamples([make({ onClose: () => void closed.push('closed') })], services);
    expect(closed).toEqual(['closed']);
  });

  it('stops the start if the schema rejects it', () => {
    expect(() => tryExamples([pluginOf({}, { config, example: { words: 5 } })], services)).toThrow(
      /odd: its schema rejects its example: words:/,
    );
  });
});
