import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { providers } from '../../../../core/providers/index.ts';
import { createHarness, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

/** An adapter that fails on the text `odd`, as one of a third party might. */
const operations = providers.get('anthropic')?.operations as { chatComplete: Operation };
const { chatComplete } = operations;
beforeAll(() => {
  operations.chatComplete = {
    ...chatComplete,
    translateStream(call) {
      const own = chatComplete.translateStream?.(call);
      if (!own) throw new Error('no translator');
      return {
        end: () => own.end(),
        push(event) {
          if (JSON.stringify(event.data).includes('"odd"')) throw new TypeError('odd');
          return own.push(event);
        },
      };
    },
  };
});
afterAll(() => {
  operations.chatComplete = chatComplete;
});

const event = (data: { type: string; [member: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const usage = { input_tokens: 1, output_tokens: 1 };
const begin =
  event({ type: 'message_start', message: { id: 'm', role: 'assistant', model: 'claude', usage } }) +
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });

const streamOf =
  (...chunks: string[]): Script =>
  (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const chunk of chunks) handler.onData(Buffer.from(chunk));
    handler.onEnd();
  };

const body = { model: '@claude/claude-x', messages: [{ role: 'user', content: 'hi' }], stream: true };

it('events before one that cannot be translated, in the same chunk, reach the client before the error', async () => {
  const gateway = createHarness();
  gateway.script(streamOf(begin, delta('Hel') + delta('lo') + delta('odd') + delta('never')));
  const sink = await gateway.send({ body });
  const texts = [...sink.text.matchAll(/"content":"(\w+)"/g)].map(([, text]) => text);
  expect(texts).toEqual(['Hel', 'lo']);
  expect(sink.text.indexOf('upstream_invalid')).toBeGreaterThan(sink.text.indexOf('"lo"'));
  expect(gateway.records).toMatchObject([{ outcome: 'cut', errorCode: 'upstream_invalid' }]);
  await gateway.close();
});

it('a stream whose first chunk has such an event fails before its first byte, so that another target can be called', async () => {
  const gateway = createHarness();
  gateway.script(streamOf(begin + delta('Hel') + delta('odd')));
  const sink = await gateway.send({ body });
  expect([sink.status, sink.text.includes('Hel')]).toEqual([502, false]);
  await gateway.close();
});

it('a stream whose content type has other letters of upper case is read as a stream', async () => {
  const gateway = createHarness();
  gateway.script((_call, handler) => {
    handler.onHead(200, ['content-type', 'Text/Event-Stream']);
    handler.onData(Buffer.from(begin + delta('Hello')));
    handler.onData(Buffer.from(event({ type: 'message_stop' })));
    handler.onEnd();
  });
  const sink = await gateway.send({ body });
  expect(sink.status).toBe(200);
  expect(sink.text).toContain('"content":"Hello"');
  await gateway.close();
});
