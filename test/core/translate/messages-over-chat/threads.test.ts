import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { errorReply } from '../../../../core/http/write-error.ts';
import { bedrock } from '../../../../core/providers/bedrock/index.ts';
import { vertexAi } from '../../../../core/providers/vertex-ai/index.ts';
import { createHarness, type Harness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { anthropicOver } from '../../../support/clients/clients-over-harness.ts';
import { callOf } from '../../providers/contract-suite.ts';

const viaOpenAi = { 'x-svc-provider': '@one' };
const base = { model: 'm', max_tokens: 9 };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const completion = (message: JsonObject, finish: string) =>
  replyWith(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
    usage,
  });
const calling = completion(
  { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
  'tool_calls',
);
const spoken = completion({ content: 'Done.' }, 'stop');

const bodies = (harness: Harness): JsonObject[] =>
  harness.calls.map(({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()));

/** Message threads are a feature of Anthropic's own platform. Its client uses them for every loop of tools. */
describe('message threads of Anthropic’s client over another provider', () => {
  it('run a loop of tools with the whole conversation in every turn', async () => {
    const harness = createHarness({ errorReply });
    harness.script(calling, spoken);
    const runner = anthropicOver(harness, viaOpenAi).beta.messages.toolRunner({
      ...base,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ name: 'f', input_schema: { type: 'object' }, run: async () => '21', parse: (input: unknown) => input }],
    });
    expect((await runner.runUntilDone()).content).toEqual([{ type: 'text', text: 'Done.' }]);
    const roles = bodies(harness).map(({ messages }) => (messages as JsonObject[]).map(({ role }) => role));
    expect(roles).toEqual([['user'], ['user', 'assistant', 'tool']]);
    for (const body of bodies(harness)) expect(body).not.toHaveProperty('thread');
  });

  it('continue a conversation', async () => {
    const harness = createHarness({ errorReply });
    harness.script(spoken, spoken);
    const thread = anthropicOver(harness, viaOpenAi).beta.messages.thread(base);
    await thread.send({ role: 'user', content: 'one' });
    await thread.send({ role: 'user', content: 'two' });
    expect(bodies(harness).map(({ messages }) => (messages as JsonObject[]).length)).toEqual([1, 3]);
  });

  it('are reported as dropped, and refused with the error of the API when only the last turn is sent', async () => {
    const harness = createHarness({ errorReply });
    harness.script(spoken);
    const messages = [{ role: 'user' as const, content: 'x' }];
    const client = anthropicOver(harness, viaOpenAi);
    const { response } = await client.beta.messages.create({ ...base, messages, thread: { type: 'create' } }).withResponse();
    expect(response.headers.get('x-svc-dropped-params')).toBe('thread');
    const thread = { type: 'continue' as const, previous_message_id: 'msg_1' };
    const failure = await client.beta.messages.create({ ...base, messages, thread }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.NotFoundError);
    expect(failure).toMatchObject({ status: 404, errorCode: 'thread_not_found', type: 'not_found_error' });
    expect(harness.calls).toHaveLength(1);
  });
});

it('messages route: an error of Anthropic keeps the details by which its client chooses the class', async () => {
  const harness = createHarness();
  const details = { error_code: 'thread_not_found' };
  harness.script(replyWith(404, { type: 'error', error: { type: 'not_found_error', message: 'gone', details } }));
  const failure = await anthropicOver(harness, { 'x-svc-provider': '@two' })
    .messages.create({ ...base, messages: [{ role: 'user', content: 'x' }] })
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 404, errorCode: 'thread_not_found' });
});

it.each(['billing_policy', 'compaction', 'fallback_credit_token', 'user_profile_id', 'workspace_id'])(
  'messages route: %s is dropped for other providers and reported',
  async (name) => {
    const harness = createHarness();
    harness.script(spoken);
    const body = { ...base, messages: [{ role: 'user', content: 'x' }], [name]: 'v' };
    const reply = await harness.send({ path: '/v1/messages', headers: viaOpenAi, body });
    expect([reply.status, reply.header('x-svc-dropped-params')]).toEqual([200, name]);
    expect(bodies(harness)[0]).not.toHaveProperty(name);
  },
);

it('messages route: output_format is the older name of the format', async () => {
  const harness = createHarness();
  harness.script(spoken);
  const format = { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } };
  await harness.send({
    path: '/v1/messages',
    headers: viaOpenAi,
    body: { ...base, messages: [{ role: 'user', content: 'x' }], output_format: format },
  });
  expect(bodies(harness)[0]).toMatchObject({ response_format: { type: 'json_schema', json_schema: { schema: format.schema } } });
  expect(bodies(harness)[0]).not.toHaveProperty('output_format');
});

it.each([
  ['bedrock', bedrock, { aws_region: 'us-east-1' }],
  ['vertex-ai', vertexAi, { vertex_project_id: 'p', vertex_region: 'us-east5' }],
] as const)('messages route: Claude on %s gets no thread', (_id, adapter, settings) => {
  const params = {
    ...base,
    model: 'anthropic.claude-sonnet-4-5',
    messages: [{ role: 'user', content: 'x' }],
    thread: { type: 'create' },
  };
  const call = callOf(params, {}, settings);
  const body = adapter.operations.messages?.toProvider?.(params, call);
  expect(body).toMatchObject({ messages: params.messages });
  expect(body).not.toHaveProperty('thread');
  expect(call.dropped).toEqual(['thread']);
});
