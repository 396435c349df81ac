import { describe, expect, it } from 'vitest';
import { chatStream, createHarness, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';

const comment = ': OPENROUTER PROCESSING\n\n';
const failure = 'data: {"error":{"message":"Provider returned error","code":502},"choices":[]}\n\n';
const event =
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
const done = 'data: [DONE]\n\n';

/** `usage: true` streams pass unchanged, others are translated. */
async function ask(scripts: Script[], { usage = true, elapsed }: { usage?: boolean; elapsed?: () => number } = {}) {
  const gateway = createHarness({ providers: { one: 'openai', two: 'openai' }, ...(elapsed ? { elapsed } : {}) });
  gateway.script(...scripts);
  const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
  const messages = [{ role: 'user', content: 'hi' }];
  const body = { model: 'm', stream: true, messages, ...(usage ? { stream_options: { include_usage: true } } : {}) };
  const reply = await gateway.send({ headers: { 'x-svc-config': config }, body });
  return { reply, gateway };
}

describe('comments before the first event of a stream', () => {
  it.each([true, false])('a first event that is an error continues with the next target (include_usage %s)', async (usage) => {
    const { reply, gateway } = await ask([streamOf([comment, comment, failure]), chatStream(['hello'])], { usage });
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    expect(reply.text).toContain('hello');
    expect(reply.text).not.toContain('OPENROUTER');
    expect(gateway.records[0]?.attempts).toMatchObject([{ status: 502 }, { status: 200 }]);
  });

  it.each([true, false])('are sent with the first event (include_usage %s)', async (usage) => {
    const { reply } = await ask([streamOf([comment, comment, event, done])], { usage });
    expect(reply.text).toBe(comment + comment + event + done);
  });

  it('an error in several chunks continues with the next target', async () => {
    const { reply } = await ask([streamOf([comment, failure.slice(0, 20), failure.slice(20)]), chatStream(['hello'])]);
    expect(reply.text).toContain('hello');
  });

  it('are sent at the end of a stream whose only event has no blank line', async () => {
    const { reply } = await ask([streamOf([comment, event.trimEnd()])]);
    expect(reply.text).toBe(comment + event.trimEnd());
  });

  it.each([
    [14_999, ''],
    [15_000, comment + comment],
  ])('the second one after %i ms leaves the client with %j', async (ms, sent) => {
    let nowMs = 0;
    const seen: string[] = [];
    const gateway = createHarness({ elapsed: () => nowMs });
    await gateway.send({
      headers: { 'x-svc-provider': '@one' },
      body: { model: 'm', stream: true, messages: [], stream_options: { include_usage: true } },
      prepare: (sink) => {
        gateway.script((_call, handler) => {
          handler.onHead(200, ['content-type', 'text/event-stream']);
          handler.onData(Buffer.from(comment));
          nowMs += ms;
          handler.onData(Buffer.from(comment));
          seen.push(Buffer.concat(sink.chunks).toString());
          handler.onData(Buffer.from(event + done));
          handler.onEnd();
        });
      },
    });
    expect(seen).toEqual([sent]);
  });

  it('more than 64 KiB do not wait', async () => {
    const long = `: ${'x'.repeat(70_000)}\n\n`;
    const { reply } = await ask([streamOf([long, failure]), chatStream(['hello'])]);
    expect(reply.text).toContain('Provider returned error');
  });
});
