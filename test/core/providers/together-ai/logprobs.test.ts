import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { togetherAi } from '../../../../core/providers/together-ai/index.ts';
import { callOf, translated } from '../contract-suite.ts';

const chat = togetherAi.operations.chatComplete as Operation;
const params = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const content = [
  { token: 'Be', logprob: -0.5, bytes: [66, 101], top_logprobs: [{ token: 'Ge', logprob: -2, bytes: [71, 101] }] },
  { token: 'rn', logprob: -1, bytes: [114, 110], top_logprobs: [] },
];

it.each([
  [{ logprobs: true }, 1],
  [{ logprobs: true, top_logprobs: 3 }, 3],
  [{ logprobs: false, top_logprobs: 0 }, undefined],
  [{ logprobs: 5 }, 5],
])('together-ai: %j is sent as logprobs %s', (asked, expected) => {
  const call = callOf({ ...params, ...asked }, {}, {});
  const body = chat.toProvider?.(call.params, call);
  expect([body?.logprobs, body?.top_logprobs]).toEqual([expected, undefined]);
});

it('together-ai: log probabilities of a reply have OpenAI’s form', () => {
  const logprobs = { tokens: ['Be', 'rn'], token_logprobs: [-0.5, -1], top_logprobs: [{ Ge: -2 }, null] };
  const choice = { index: 0, message: { role: 'assistant', content: 'Bern' }, finish_reason: 'stop', logprobs };
  const reply = chat.fromProvider?.({ id: 'a', choices: [choice] }, callOf(params, {}, {}));
  expect(reply?.choices).toMatchObject([{ logprobs: { content, refusal: null } }]);
});

it('together-ai: log probabilities of a stream have OpenAI’s form', () => {
  const chunkOf = (text: string, more: object) => ({
    event: null,
    data: { id: 'a', choices: [{ index: 0, delta: { content: text }, finish_reason: null, ...more }] },
  });
  const events = [chunkOf('Be', { logprobs: -0.5, top_logprobs: { Ge: -2 } }), chunkOf('rn', { logprobs: -1 })];
  const chunks = translated(chat, events, callOf({ ...params, stream: true }, {}, {}));
  const choices = chunks.map(({ data }) => (data as { choices: object[] }).choices[0]);
  expect(choices).toMatchObject(content.map((one) => ({ logprobs: { content: [one], refusal: null } })));
});

it('together-ai: the log probability of a chunk without text is left out', () => {
  const delta = { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
  const event = { event: null, data: { id: 'a', choices: [{ index: 0, delta, finish_reason: null, logprobs: -0.5 }] } };
  const [chunk] = translated(chat, [event], callOf({ ...params, stream: true }, {}, {}));
  expect(chunk?.data).toMatchObject({ choices: [{ delta, logprobs: null }] });
});
