import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';

/** Names as Claude Code gives them to tools of plugins. They differ behind the 64 characters that OpenAI accepts. */
const prefix = 'mcp__plugin_atlassian-mcp-remote_atlassian__getConfluencePageFooter';
const [first, second] = [`${prefix}Comments`, `${prefix}Likes`];

it.each(['plain', 'streamed'])('names of tools over 64 characters are shorter for the provider only: %s', async (kind) => {
  const gateway = createHarness({ providers: { one: 'openai' } });
  const stream = kind === 'streamed';
  const sentNames: string[] = [];
  gateway.script((call, handler) => {
    const sent = JSON.parse(Buffer.from(call.body as Uint8Array).toString()) as { tools: { function: { name: string } }[] };
    sentNames.push(...sent.tools.map((tool) => tool.function.name));
    const called = { id: 'call_2', type: 'function', function: { name: sentNames[1], arguments: '{}' } };
    const head = { id: 'c', created: 1, model: 'gpt-4.1' };
    const message = { role: 'assistant', content: null, tool_calls: [{ index: 0, ...called }] };
    const choice = { index: 0, finish_reason: 'tool_calls', ...(stream ? { delta: message } : { message }) };
    const reply = { ...head, object: stream ? 'chat.completion.chunk' : 'chat.completion', choices: [choice] };
    const script = stream ? streamOf([`data: ${JSON.stringify(reply)}\n\n`, 'data: [DONE]\n\n']) : replyWith(200, reply);
    return script(call, handler);
  });
  const reply = await gateway.send({
    path: '/v1/messages',
    headers: { 'x-svc-provider': '@one' },
    body: {
      ...{ model: 'gpt-4.1', max_tokens: 9, stream, tool_choice: { type: 'tool', name: second } },
      tools: [first, second].map((name) => ({ name, input_schema: { type: 'object' } })),
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: first, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'none' }] },
      ],
    },
  });
  const { messages, tool_choice: choice } = JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString());
  expect(new Set(sentNames).size).toBe(2);
  for (const name of sentNames) expect(name).toMatch(/^[\w-]{64}$/);
  expect(messages[1].tool_calls[0].function.name).toBe(sentNames[0]);
  expect(choice.function.name).toBe(sentNames[1]);
  expect(reply.header('x-svc-adapted')).toContain('tools.name');
  const event = /data: (.*"content_block_start".*)/.exec(reply.text)?.[1] ?? '{}';
  const block = stream ? JSON.parse(event).content_block : (reply.json.content as JsonObject[])[0];
  expect(block).toMatchObject({ type: 'tool_use', name: second });
});
