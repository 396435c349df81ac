import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { cohere } from '../../../../core/providers/cohere/index.ts';
import { callOf, translated } from '../contract-suite.ts';

const chat = cohere.operations.chatComplete as Operation;
const params = { model: 'command-a-03-2025', messages: [{ role: 'user', content: 'Hi' }], logprobs: true };
const items = [
  { text: 'Be', token_ids: [1], logprobs: [-0.5] },
  { text: 'rn', token_ids: [2, 3], logprobs: [-0.25, -1] },
];
const content = [
  { token: 'Be', logprob: -0.5, bytes: [66, 101], top_logprobs: [] },
  { token: 'rn', logprob: -1.25, bytes: [114, 110], top_logprobs: [] },
];

it('cohere: log probabilities have OpenAI’s form', () => {
  const message = { role: 'assistant', content: [{ type: 'text', text: 'Bern' }] };
  const reply = chat.fromProvider?.({ id: 'a', finish_reason: 'COMPLETE', message, logprobs: items }, callOf(params, {}, {}));
  expect(reply?.choices).toMatchObject([{ logprobs: { content, refusal: null } }]);
});

it('cohere: log probabilities of a stream have OpenAI’s form', () => {
  const events = items.map((logprobs) => ({
    event: 'content-delta',
    data: { type: 'content-delta', index: 0, delta: { message: { content: { text: logprobs.text } } }, logprobs },
  }));
  const call = callOf({ ...params, stream: true }, {}, {});
  const chunks = translated(chat, events, call).map(({ data }) => (data as { choices: { logprobs: unknown }[] }).choices[0]);
  expect(chunks).toMatchObject(content.map((entry) => ({ logprobs: { content: [entry], refusal: null } })));
  expect(call.dropped).toEqual([]);
});
