import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { withToolTypes } from '../../../../core/providers/mistral-ai/tool-types.ts';
import {
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';

/** A call as Mistral sends it since January 2026. */
const toolCall = { id: 'gSIMJiOkT', function: { name: 'weather', arguments: '{"city": "Paris"}' } };
const head = { id: '1', created: 1, model: 'mistral-small-latest' };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const plain = (message: JsonObject, finish_reason: string): Script =>
  replyWith(200, {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    usage,
  });
const streamed =
  (...choices: readonly JsonObject[]): Script =>
  (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const choice of choices) {
      const chunk = { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null, ...choice }], usage };
      handler.onData(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
    }
    handler.onData(Buffer.from('data: [DONE]\n\n'));
    handler.onEnd();
  };

function harness(...scripts: Script[]): Harness {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/m`, { ...providerDocument('m', 'mistral-ai'), secrets: '{"api_key":"k"}' });
  gateway.script(...scripts);
  return gateway;
}

const ran: unknown[] = [];
const request = {
  model: 'mistral-small-latest',
  messages: [{ role: 'user' as const, content: 'weather?' }],
  tools: [
    {
      type: 'function' as const,
      function: {
        name: 'weather',
        description: 'weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        parse: JSON.parse,
        function: (input: unknown) => {
          ran.push(input);
          return '21';
        },
      },
    },
  ],
};

describe('a loop of tools of OpenAI’s client over mistral-ai', () => {
  it('runs the calls of a plain reply', async () => {
    const gateway = harness(plain({ tool_calls: [toolCall] }, 'tool_calls'), plain({ content: '21 degrees' }, 'stop'));
    const client = openAiOver(gateway, { 'x-svc-provider': '@m' });
    expect(await client.chat.completions.runTools(request).finalContent()).toBe('21 degrees');
    expect(ran.splice(0)).toEqual([{ city: 'Paris' }]);
  });

  it('runs the calls of a stream, and sends no field that Mistral rejects', async () => {
    const gateway = harness(
      streamed({ delta: { role: 'assistant', content: '' } }, { delta: { tool_calls: [toolCall] }, finish_reason: 'tool_calls' }),
      streamed({ delta: { role: 'assistant', content: '21 degrees' }, finish_reason: 'stop' }),
    );
    const client = openAiOver(gateway, { 'x-svc-provider': '@m' });
    expect(await client.chat.completions.runTools({ ...request, stream: true }).finalContent()).toBe('21 degrees');
    expect(ran.splice(0)).toEqual([{ city: 'Paris' }]);
    const { messages } = JSON.parse(Buffer.from(gateway.calls[1]?.body as Uint8Array).toString());
    expect(messages).toEqual([
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: '', tool_calls: [{ ...toolCall, type: 'function' }] },
      { role: 'tool', tool_call_id: toolCall.id, content: '21' },
    ]);
  });
});

it('mistral-ai: parallel calls in one chunk are chunks of their own, as OpenAI sends them', async () => {
  const calls = ['a', 'b', 'c'].map((id) => ({ ...toolCall, id }));
  const gateway = harness(streamed({ delta: { content: 'x', tool_calls: calls }, finish_reason: 'tool_calls' }));
  const client = openAiOver(gateway, { 'x-svc-provider': '@m' });
  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) chunks.push(chunk);
  const choices = chunks.map((chunk) => chunk.choices[0]);
  expect(choices.map((choice) => choice?.delta.tool_calls?.map(({ index, id }) => [index, id]))).toEqual([
    [[0, 'a']],
    [[1, 'b']],
    [[2, 'c']],
    undefined,
  ]);
  expect(choices.map((choice) => choice?.delta.content)).toEqual(['x', undefined, undefined, undefined]);
  expect(choices.map((choice) => choice?.finish_reason)).toEqual([null, null, null, 'tool_calls']);
  expect(chunks.map((chunk) => chunk.usage?.total_tokens)).toEqual([undefined, undefined, undefined, 2]);
});

it.each(['message', 'delta'])('mistral-ai: arguments of a tool call that are an object become JSON text in a %s', (member) => {
  const choiceOf = (call: JsonObject) => ({ choices: [{ index: 0, [member]: { tool_calls: [call] } }] });
  const sent = { id: 'gSIMJiOkT', index: 0, function: { name: 'weather', arguments: { city: 'Paris' } } };
  const expected = { ...sent, type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } };
  expect(withToolTypes(choiceOf(sent))).toEqual(choiceOf(expected));
});
