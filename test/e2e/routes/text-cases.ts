import { embed, generateText, streamText } from 'ai';
import { expect } from 'vitest';
import { eventStream, reply } from '../../support/upstream/fake-upstream.ts';
import { namedEvent } from '../../support/upstream/send-events.ts';
import { collect, id, type RouteCase } from './route-case.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];
const message = { model: 'claude-test', max_tokens: 64, messages };
const said = 'You said: hello';
const kept = { id, object: 'response', status: 'completed', model: 'gpt-5', output: [] };
const completed = namedEvent({ type: 'response.completed', sequence_number: 9, response: kept });

/** Chat, completions, embeddings, messages and responses. */
export const textCases: Record<string, readonly RouteCase[]> = {
  'POST /chat/completions': [
    {
      by: 'openai',
      send: ({ openai }) => openai.chat.completions.create({ model: 'm', messages }),
      expected: { object: 'chat.completion', choices: [{ message: { content: said } }] },
    },
    {
      by: 'openai, streamed',
      send: async ({ openai }) => (await openai.chat.completions.stream({ model: 'm', messages }).finalMessage()).content,
      expected: said,
    },
    {
      by: 'openai, streamed by Anthropic',
      provider: 'ant',
      at: '/v1/messages',
      send: async ({ openai }) => (await openai.chat.completions.stream({ model: 'm', messages }).finalMessage()).content,
      expected: said,
    },
    {
      by: 'ai',
      send: ({ aiOpenAI }) => generateText({ model: aiOpenAI.chat('m'), messages, maxRetries: 0 }),
      expected: { text: said },
    },
  ],
  'POST /completions': [
    {
      by: 'openai',
      send: ({ openai }) => openai.completions.create({ model: 'm', prompt: 'hello' }),
      expected: { object: 'text_completion', choices: [{ text: expect.stringContaining('hello') }] },
    },
    {
      by: 'openai, streamed',
      send: async ({ openai }) =>
        (await collect(await openai.completions.create({ model: 'm', prompt: 'hello', stream: true })))
          .map(({ choices }) => choices[0]?.text ?? '')
          .join(''),
      expected: expect.stringContaining('hello'),
    },
  ],
  'POST /embeddings': [
    {
      by: 'openai',
      send: ({ openai }) => openai.embeddings.create({ model: 'm', input: ['a', 'b'] }),
      expected: { object: 'list', data: [{ index: 0, embedding: expect.any(Array) }, { index: 1 }] },
    },
    {
      by: 'ai',
      send: ({ aiOpenAI }) => embed({ model: aiOpenAI.embedding('m'), value: 'a', maxRetries: 0 }),
      expected: { embedding: expect.any(Array) },
    },
  ],
  'POST /messages': [
    {
      by: '@anthropic-ai/sdk',
      provider: 'ant',
      send: ({ anthropic }) => anthropic.messages.create(message),
      expected: { type: 'message', content: [{ type: 'text', text: said }] },
    },
    {
      by: '@anthropic-ai/sdk, streamed',
      provider: 'ant',
      send: ({ anthropic }) => anthropic.messages.stream(message).finalMessage(),
      expected: { content: [{ type: 'text', text: said }], stop_reason: 'end_turn' },
    },
    {
      by: '@anthropic-ai/sdk, served by OpenAI',
      at: '/v1/chat/completions',
      send: ({ anthropic }) => anthropic.messages.create(message),
      expected: { type: 'message', content: [{ type: 'text', text: said }] },
    },
    {
      by: 'ai, streamed',
      provider: 'ant',
      send: async ({ aiAnthropic }) => {
        const failures: unknown[] = [];
        const onError = ({ error }: { error: unknown }) => void failures.push(error);
        const { textStream } = streamText({ model: aiAnthropic('claude-test'), messages, maxRetries: 0, onError });
        const text = (await collect(textStream)).join('');
        if (failures.length > 0) throw failures[0];
        return text;
      },
      expected: said,
    },
  ],
  'POST /messages/count_tokens': [
    {
      by: '@anthropic-ai/sdk',
      provider: 'ant',
      reply: { input_tokens: 42 },
      send: ({ anthropic }) => anthropic.messages.countTokens({ model: 'claude-test', messages }),
      expected: { input_tokens: 42 },
    },
  ],
  'POST /responses': [
    {
      by: 'openai',
      send: ({ openai }) => openai.responses.create({ model: 'm', input: 'hello' }),
      expected: { object: 'response', status: 'completed', output_text: said },
    },
    {
      by: 'openai, streamed',
      send: ({ openai }) => openai.responses.stream({ model: 'm', input: 'hello' }).finalResponse(),
      expected: { output_text: said },
    },
    {
      by: 'openai, streamed by Anthropic',
      provider: 'ant',
      at: '/v1/messages',
      send: ({ openai }) =>
        openai.responses.stream({ model: 'm', input: 'hello', max_output_tokens: 64, store: false }).finalResponse(),
      expected: { output_text: said },
    },
    {
      by: 'ai',
      send: ({ aiOpenAI }) => generateText({ model: aiOpenAI.responses('m'), messages, maxRetries: 0 }),
      expected: { text: said },
    },
  ],
  'GET /responses/{id}': [
    {
      by: 'openai',
      // Applies to both calls.
      reply: (exchange) =>
        (exchange.request.query.includes('stream=true') ? eventStream([completed]) : reply(200, kept)).run(exchange),
      send: ({ openai }) => openai.responses.retrieve(id),
      expected: { id, status: 'completed' },
    },
    {
      by: 'openai, streamed',
      send: async ({ openai }) => collect(await openai.responses.retrieve(id, { stream: true, starting_after: 8 })),
      expected: [{ type: 'response.completed' }],
    },
  ],
  'DELETE /responses/{id}': [
    {
      by: 'openai',
      reply: { id, object: 'response.deleted', deleted: true },
      // The provider's own call returns no body.
      send: ({ openai }) => openai.delete(`/responses/${id}`),
      expected: { id, object: 'response.deleted', deleted: true },
    },
  ],
  'GET /responses/{id}/input_items': [
    {
      by: 'openai',
      reply: { object: 'list', data: [{ id: 'msg_1', type: 'message', role: 'user', content: [] }], has_more: false },
      send: async ({ openai }) => (await openai.responses.inputItems.list(id)).data,
      expected: [{ id: 'msg_1' }],
    },
  ],
  'POST /responses/{id}/cancel': [
    {
      by: 'openai',
      reply: { ...kept, status: 'cancelled' },
      send: ({ openai }) => openai.responses.cancel(id),
      expected: { id, status: 'cancelled' },
    },
  ],
  'POST /responses/input_tokens': [
    {
      by: 'openai',
      reply: { object: 'response.input_tokens', input_tokens: 11 },
      send: ({ openai }) => openai.responses.inputTokens.count({ model: 'm', input: 'hello' }),
      expected: { input_tokens: 11 },
    },
  ],
  'POST /responses/compact': [
    {
      by: 'openai',
      reply: { id: 'resp_c', object: 'response.compaction', created_at: 1, output: [], usage: { input_tokens: 9 } },
      send: ({ openai }) => openai.responses.compact({ model: 'gpt-5', input: 'hello' }),
      expected: { id: 'resp_c', object: 'response.compaction' },
    },
  ],
};
