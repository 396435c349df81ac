import { describe, expect, it } from 'vitest';
import { chatReply, chatStream, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { ask, json, match, user } from './ask-gateway.ts';

/** A stream with this status. */
const streamWith =
  (status: number): Script =>
  (call, handler) =>
    chatStream(['hel', 'lo'])(call, { ...handler, onHead: (_status, headers) => handler.onHead(status, headers) });

describe.each([200, 201, 202])('a response that its provider sends with status %i', (status) => {
  const scripts = [replyWith(status, chatReply('hello'))];

  it('is denied', async () => {
    const { status: shown, sink } = await ask({ output_guardrails: [match('zz', { deny: true })] }, { scripts });
    expect([shown, sink.text.includes('"content":"hello"')]).toEqual([446, false]);
  });

  it('has status 246 if a guardrail fails, and its own if all pass', async () => {
    expect((await ask({ output_guardrails: [match('zz')] }, { scripts })).status).toBe(246);
    expect((await ask({ input_guardrails: [match('zz')] }, { scripts })).status).toBe(246);
    expect((await ask({ output_guardrails: [match('hello')] }, { scripts })).status).toBe(status);
  });

  it('keeps its status if a guardrail rewrites it', async () => {
    const replaces = { 'default.regexReplace': { rule: 'hello', redactText: 'X' } };
    const { status: shown, sink } = await ask({ output_guardrails: [replaces] }, { scripts });
    expect([shown, json(sink.text).choices]).toMatchObject([status, [{ message: { content: 'X' } }]]);
    // A failed guardrail beside it can ask for another response.
    const retry = { attempts: 1, on_status_codes: [246] };
    expect(await ask({ output_guardrails: [replaces, match('zz')], retry }, { scripts })).toMatchObject({
      status: 246,
      calls: 2,
    });
  });

  it('is denied as a stream that is held, and as one that is decided in a window', async () => {
    const body = { ...user('hi'), stream: true };
    for (const stream of ['buffer', 'window']) {
      const contains = { 'default.contains': { words: ['hello'], operator: 'none' }, deny: true, stream };
      const { sink } = await ask({ output_guardrails: [contains] }, { body, scripts: [streamWith(status)] });
      expect([stream, sink.text.includes('"content":"lo"')]).toEqual([stream, false]);
      expect(sink.text).toContain('hooks_failed');
    }
  });

  it('has status 246 as a stream if a guardrail of the request fails', async () => {
    const body = { ...user('hi'), stream: true };
    expect((await ask({ input_guardrails: [match('zz')] }, { body, scripts: [streamWith(status)] })).status).toBe(246);
  });
});
