import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, type Script, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const call = { id: 'gSIMJiOkT', type: 'function', index: 0, function: { name: 'weather', arguments: '{}' } };

/** A stream of these chunks, as Mistral sends them: the last one has finish reason and token counts beside what it adds. */
const streamed =
  (chunks: readonly JsonObject[], end = 'data: [DONE]\n\n'): Script =>
  (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const chunk of chunks) handler.onData(Buffer.from(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`));
    handler.onData(Buffer.from(end));
    handler.onEnd();
  };

async function chunksOf(provider: string, script: Script, options?: { include_usage: boolean }): Promise<JsonObject[]> {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/p`, { ...providerDocument('p', provider), secrets: '{"api_key":"k"}' });
  gateway.script(script);
  const messages = [{ role: 'user' as const, content: 'x' }];
  const request = { model: 'm', messages, stream: true as const, ...(options ? { stream_options: options } : {}) };
  const chunks = [];
  const client = openAiOver(gateway, { 'x-svc-provider': '@p' });
  for await (const chunk of await client.chat.completions.create(request)) chunks.push({ ...chunk });
  return chunks;
}

const ending = { choices: [{ index: 0, delta: { content: '', tool_calls: [call] }, finish_reason: 'tool_calls' }], usage };
const added = { index: 0, delta: { content: '', tool_calls: [call] }, finish_reason: null };
const ended = { index: 0, delta: {}, finish_reason: 'tool_calls' };

describe('chat streams of providers that send the end of a choice with its last part', () => {
  it('have the finish reason in a chunk of its own, with the counts that the client did not request', async () => {
    expect(await chunksOf('mistral-ai', streamed([ending]))).toEqual([
      { ...head, choices: [added] },
      { ...head, choices: [ended], usage },
    ]);
  });

  it.each([
    ['[DONE]', 'data: [DONE]\n\n'],
    ['its last byte', ''],
  ])('have requested counts in a last chunk without choices, before %s', async (_name, end) => {
    const first = { choices: [{ index: 0, delta: { role: 'assistant', content: 'I' }, finish_reason: null }], usage };
    expect(await chunksOf('mistral-ai', streamed([first, ending], end), { include_usage: true })).toEqual([
      { ...head, ...first, usage: null },
      { ...head, choices: [added] },
      { ...head, choices: [ended], usage: null },
      { ...head, choices: [], usage },
    ]);
  });

  it('keep a chunk of counts that has no choices, once', async () => {
    const last = { choices: [], usage };
    const chunks = await chunksOf('openrouter', streamed([{ choices: [ended] }, last]), { include_usage: true });
    expect(chunks).toEqual([
      { ...head, choices: [ended] },
      { ...head, ...last },
    ]);
  });
});

it('chat streams that are not changed keep the bytes of the provider', async () => {
  expect(await chunksOf('groq', streamed([ending]), { include_usage: true })).toEqual([{ ...head, ...ending }]);
});
