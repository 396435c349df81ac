import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../../../core/contract/provider/stream-event.ts';
import { EventStream } from '../../../../core/pipeline/attempt/event-stream.ts';
import { providers } from '../../../../core/providers/index.ts';
import { callOf } from '../../providers/contract-suite.ts';

const frame = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  frame({ id: 'a', model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more });
const toolCall = (call: object): string => chunk({ tool_calls: [call] });

const special = [
  chunk({ role: 'assistant', content: '' }),
  chunk({}, 'stop'),
  chunk({}, 'eos_token'),
  chunk({ content: 'é🙂"\\' }),
  toolCall({ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }),
  toolCall({ index: 0, id: 'call_2', type: 'function', function: { name: 'g', arguments: '' } }),
  toolCall({ index: 0, function: { arguments: '{"a":' } }),
  toolCall({ function: { arguments: '1}' } }),
  toolCall({ id: 'call_3', function: { name: 'h', arguments: '{}' } }),
  chunk({
    tool_calls: [
      { index: 0, id: 'x', function: {} },
      { index: 1, id: 'y' },
    ],
  }),
  frame({ id: 'a', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }),
  chunk({ content: 'a' }, null, { usage: { prompt_tokens: 5, completion_tokens: 6 } }),
  frame({ error: { message: 'overloaded' } }),
  `event: error\n${frame({ message: 'overloaded' })}`,
  frame('[DONE]'),
  ': comment\n\n',
  'retry: 5\n\n',
  `id: 7\n${chunk({ content: 'a' })}`,
  chunk({ content: 'a' }).replaceAll('\n', '\r\n'),
];

function read(operation: Operation, strict: boolean, chunks: readonly Buffer[], keepsRepeats: boolean) {
  const translator = operation.translateStream?.(callOf({ model: 'm', stream: true }, { strict }, {})) as StreamTranslator;
  const pushed: StreamEvent[] = [];
  const push = (event: StreamEvent) => {
    pushed.push(event);
    return translator.push(event);
  };
  const reader = operation.streamReader();
  const stream = new EventStream(reader, { ...translator, push, ...(keepsRepeats ? {} : { keepsRepeats: false }) });
  const sent = chunks.map((bytes) => stream.push(bytes)).join('') + stream.end();
  const state = [stream.count, stream.translatedCount, stream.emptyCount, stream.isErrorFirst, stream.isErrorLost];
  return { told: [sent, reader.usage(), reader.complete(), reader.error?.()?.message, ...state], pushed: pushed.length };
}

describe('repeated events of a stream whose token counts the client did not request', () => {
  const openai = providers.get('openai')?.operations.chatComplete as Operation;

  it('are sent unchanged and are not parsed', () => {
    const bytes = Buffer.from([...Array(50)].map((_, i) => chunk({ content: `wörd ${i}` })).join('') + frame('[DONE]'));
    const { told, pushed } = read(openai, true, [bytes.subarray(0, 777), bytes.subarray(777)], true);
    expect([told[0], pushed]).toEqual([bytes.toString(), 2]);
  });

  it.each([
    ['openai', true],
    ['openai', false],
    ['groq', true],
    ['fireworks-ai', true],
    ['openrouter', true],
  ])('are sent as if they were parsed, in random orders and cuts, by %s with strict compliance %s', (id, strict) => {
    const operation = providers.get(id)?.operations.chatComplete as Operation;
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 200; round++) {
      const parts: string[] = [];
      for (let i = 0; i < 12; i++) {
        const event = random(3) === 0 ? chunk({ content: String(random(1e9)) }) : (special[random(special.length)] as string);
        for (let times = 1 + random(3); times > 0; times--) parts.push(event);
      }
      const bytes = Buffer.from(parts.join(''));
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const length = 1 + random(random(2) === 0 ? 40 : 900);
        chunks.push(bytes.subarray(from, from + length));
        from += length;
      }
      expect(read(operation, strict, chunks, true).told).toEqual(read(operation, strict, chunks, false).told);
    }
  });
});
