import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { expectGolden } from './golden.ts';
import { providerCases } from './provider-cases.ts';
import { eventsIn, providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type Format, type ModelReply, scenarios } from './scenarios.ts';

const formats: readonly Format[] = ['chat', 'messages', 'responses'];
const reasoning = scenarios.find(({ name }) => name === 'reasoning') as (typeof scenarios)[number];
const replies: readonly ModelReply[] = [reasoning.reply, { text: 'Rain.', end: 'end', tokens: reasoning.reply.tokens }];
/** The signed and the encrypted reasoning of the provider. Both must be sent back to it unchanged. */
const signature = reasoning.reply.thoughts?.[0]?.signature as string;
const sealed = reasoning.reply.sealed as string;

/** The providers with signed reasoning, by format. The others have none, or their API does not return it. */
const signs: Readonly<Record<string, readonly Format[]>> = {
  anthropic: formats,
  bedrock: formats,
  google: formats,
  openai: ['responses'],
  'openai-responses-only': formats,
  'azure-openai': ['responses'],
};

/** The turn that a client of this format appends: the reply as it read it, and the results of both tools. */
const append: Readonly<Record<Format, (params: JsonObject, reply: JsonObject) => JsonObject>> = {
  chat: (params, { message }) => ({
    ...params,
    messages: [
      ...(params.messages as JsonObject[]),
      message,
      { role: 'tool', tool_call_id: 'call_a1', content: 'rain' },
      { role: 'tool', tool_call_id: 'call_b2', content: 'Zug' },
    ],
  }),
  messages: (params, { content }) => ({
    ...params,
    messages: [
      ...(params.messages as JsonObject[]),
      { role: 'assistant', content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a1', content: 'rain' },
          { type: 'tool_result', tool_use_id: 'call_b2', content: 'Zug' },
        ],
      },
    ],
  }),
  responses: (params, { output }) => ({
    ...params,
    input: [
      { role: 'user', content: params.input },
      ...(output as JsonObject[]),
      { type: 'function_call_output', call_id: 'call_a1', output: 'rain' },
      { type: 'function_call_output', call_id: 'call_b2', output: 'Zug' },
    ],
  }),
};

/** The reply of the first turn as the client stores it. */
function replyOf(format: Format, text: string, stream: boolean): JsonObject {
  if (!stream) {
    const reply = JSON.parse(text);
    return format === 'chat' ? { message: reply.choices[0].message } : reply;
  }
  const last = eventsIn(text).at(-1);
  return isObject(last?.response) ? last.response : {};
}

describe.each(providerCases.map((provider) => [provider.name, provider] as const))('a tool loop through %s', (id, provider) => {
  it.each(formats)('completes in the format of %s', async (format) => {
    const made = providerFetch(provider, format, replies, { strict: false });
    const params = { model: provider.model, ...reasoning.asked[format] };
    await readByClient(format, made, params, false);
    const next = append[format](params, replyOf(format, made.replies[0] as string, false));
    await readByClient(format, made, next, false);
    const { body = {}, dropped, adapted } = made.sent[1] ?? {};
    expectGolden(`next-turn/${format}-${id}`, { request: body, dropped, adapted });
    const text = JSON.stringify(body);
    expect(new RegExp(`"(openai:rs_\\d+:)?${signature}"`).test(text)).toBe(signs[id]?.includes(format) ?? false);
    if (id === 'anthropic' || id === 'bedrock') expect(text).toContain(`"${sealed}"`);
    expect(text).not.toContain('skip_thought_signature_validator');
  });
});

describe('the items of a streamed response', () => {
  it.each(providerCases.map((provider) => [provider.name, provider] as const))(
    'from %s lead to the same turn',
    async (_, provider) => {
      const requests = await Promise.all(
        [false, true].map(async (stream) => {
          const made = providerFetch(provider, 'responses', replies);
          const params = { model: provider.model, ...reasoning.asked.responses };
          await readByClient('responses', made, params, stream);
          const next = append.responses(params, replyOf('responses', made.replies[0] as string, stream));
          await readByClient('responses', made, next, false);
          return made.sent[1]?.body;
        }),
      );
      expect(requests[1]).toEqual(requests[0]);
    },
  );
});

/**
 * A conversation that moves to another provider, as after a fallback. Parts that the new provider cannot read are left out and
 * reported.
 */
describe.each([
  ['google', 'anthropic'],
  ['google', 'bedrock'],
  ['anthropic', 'google'],
  ['anthropic', 'openai'],
  ['anthropic', 'mistral-ai'],
  ['cohere', 'anthropic'],
  ['openai', 'anthropic'],
  ['openai-responses-only', 'anthropic'],
  ['openai-responses-only', 'google'],
  ['anthropic', 'openai-responses-only'],
] as const)('reasoning of %s sent to %s', (from, to) => {
  it.each(['messages', 'responses'] as const)('are dropped from %s calls and reported', async (format) => {
    const [first, second] = [from, to].map(
      (id) => providerCases.find((one) => one.name === id) as (typeof providerCases)[number],
    );
    if (!first || !second) throw new Error('no such provider');
    const made = providerFetch(first, format, replies);
    const params = { ...reasoning.asked[format] };
    await readByClient(format, made, { model: first.model, ...params }, false);
    const text = made.replies[0] as string;
    const then = providerFetch(second, format, [replies[1] as ModelReply]);
    await readByClient(format, then, { ...append[format](params, replyOf(format, text, false)), model: second.model }, false);
    const { body, dropped = [], adapted = [] } = then.sent[0] ?? {};
    expect(JSON.stringify(body)).not.toContain(signature);
    expect(JSON.stringify(body)).not.toMatch(/gemini:|openai:/);
    expect(JSON.stringify(body)).not.toContain('svc1.');
    const thought = from !== 'openai' || format === 'responses';
    if (thought) expect([...dropped, ...adapted].join()).toMatch(/reasoning|thinking|content_blocks/);
  });
});
