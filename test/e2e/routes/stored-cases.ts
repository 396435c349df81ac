import { toFile } from 'openai';
import { expect } from 'vitest';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';
import { collect, id, type RouteCase } from './route-case.ts';

const file = { id, object: 'file', bytes: 9, created_at: 1, filename: 'in.jsonl', purpose: 'batch' };
const batch = { id, object: 'batch', status: 'completed', endpoint: '/v1/chat/completions', output_file_id: 'out-1' };
const job = { id, object: 'fine_tuning.job', status: 'running', model: 'm', training_file: id };
const list = (item: object) => ({ object: 'list', data: [item], has_more: false });

/** Slugs of a saved guardrail and a prompt of the running product, once they are saved. */
export const saved = { guardrail: '', prompt: '' };

/** A route with the value of its `{id}`. */
export function withId(route: string): string {
  return route.replace('{id}', route.includes('/prompts/') ? saved.prompt : id);
}

/** Files, batches and fine-tuning jobs of a provider, and the routes without an operation. */
export const storedCases: Record<string, readonly RouteCase[]> = {
  'POST /files': [
    {
      by: 'openai',
      reply: file,
      send: async ({ openai }) =>
        openai.files.create({ file: await toFile(patternBytes(90_000), 'in.jsonl'), purpose: 'fine-tune' }),
      expected: file,
    },
  ],
  'GET /files': [
    { by: 'openai', reply: list(file), send: async ({ openai }) => (await openai.files.list()).data, expected: [file] },
  ],
  'GET /files/{id}': [{ by: 'openai', reply: file, send: ({ openai }) => openai.files.retrieve(id), expected: file }],
  'GET /files/{id}/content': [
    {
      by: 'openai',
      reply: reply(200, '{"a":1}\n', { 'content-type': 'application/octet-stream' }),
      send: async ({ openai }) => (await openai.files.content(id)).text(),
      expected: '{"a":1}\n',
    },
  ],
  'DELETE /files/{id}': [
    {
      by: 'openai',
      reply: { id, object: 'file', deleted: true },
      send: ({ openai }) => openai.files.delete(id),
      expected: { id, object: 'file', deleted: true },
    },
  ],
  'POST /batches': [
    {
      by: 'openai',
      reply: batch,
      send: ({ openai }) =>
        openai.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
      expected: batch,
    },
  ],
  'GET /batches': [
    { by: 'openai', reply: list(batch), send: async ({ openai }) => (await openai.batches.list()).data, expected: [batch] },
  ],
  'GET /batches/{id}': [{ by: 'openai', reply: batch, send: ({ openai }) => openai.batches.retrieve(id), expected: batch }],
  'GET /batches/{id}/output': [
    {
      by: 'openai, as a path of its own',
      at: '/v1/files/out-1/content',
      reply: reply(200, '{"custom_id":"a"}\n', { 'content-type': 'application/jsonl' }),
      send: async ({ openai }) => ((await openai.get(`/batches/${id}/output`, { __binaryResponse: true })) as Response).text(),
      expected: '{"custom_id":"a"}\n',
    },
  ],
  'POST /batches/{id}/cancel': [
    {
      by: 'openai',
      reply: { ...batch, status: 'cancelling' },
      send: ({ openai }) => openai.batches.cancel(id),
      expected: { id, status: 'cancelling' },
    },
  ],
  'POST /fine_tuning/jobs': [
    {
      by: 'openai',
      reply: job,
      send: ({ openai }) => openai.fineTuning.jobs.create({ model: 'm', training_file: id }),
      expected: job,
    },
  ],
  'GET /fine_tuning/jobs': [
    { by: 'openai', reply: list(job), send: async ({ openai }) => (await openai.fineTuning.jobs.list()).data, expected: [job] },
  ],
  'GET /fine_tuning/jobs/{id}': [
    { by: 'openai', reply: job, send: ({ openai }) => openai.fineTuning.jobs.retrieve(id), expected: job },
  ],
  'POST /fine_tuning/jobs/{id}/cancel': [
    {
      by: 'openai',
      reply: { ...job, status: 'cancelled' },
      send: ({ openai }) => openai.fineTuning.jobs.cancel(id),
      expected: { id, status: 'cancelled' },
    },
  ],
  'GET /models': [
    {
      by: 'openai',
      send: async ({ openai }) => (await openai.models.list()).data,
      expected: expect.arrayContaining([expect.objectContaining({ id: 'gpt-4o-mini', object: 'model' })]),
    },
    {
      by: '@anthropic-ai/sdk',
      provider: 'ant',
      send: async ({ anthropic }) => (await anthropic.models.list()).data,
      expected: expect.arrayContaining([expect.objectContaining({ type: 'model' })]),
    },
  ],
  'GET /realtime': [
    {
      by: 'WebSocket (the official client takes TLS only: test/core/realtime)',
      provider: 'rt',
      send: async ({ session }) => {
        const { socket, messages, received } = await session('/realtime?model=gpt-realtime');
        await received(1);
        socket.close();
        return JSON.parse(String(messages[0]));
      },
      expected: { type: 'session.created' },
    },
  ],
  'POST /realtime/client_secrets': [
    {
      by: 'openai',
      asksProvider: false,
      send: ({ openai }) => openai.realtime.clientSecrets.create({ session: { type: 'realtime', model: '@oai/gpt-realtime' } }),
      expected: { value: expect.stringMatching(/^ek_svc_/), session: { object: 'realtime.session', model: '@oai/gpt-realtime' } },
    },
  ],
  'POST /realtime/sessions': [
    {
      by: 'plain HTTP',
      asksProvider: false,
      send: ({ plain }) => plain('POST', '/realtime/sessions', { model: '@oai/gpt-realtime' }),
      expected: {},
    },
  ],
  'POST /realtime/transcription_sessions': [
    {
      by: 'plain HTTP',
      asksProvider: false,
      send: ({ plain }) => plain('POST', '/realtime/transcription_sessions', {}),
      expected: {},
    },
  ],
  'POST /configs/explain': [
    {
      by: 'plain HTTP',
      asksProvider: false,
      send: ({ plain }) => plain('POST', '/configs/explain', { config: { provider: '@oai' }, request: { body: { model: 'm' } } }),
      expected: {},
    },
  ],
  'POST /prompts/{id}/render': [
    {
      by: 'openai',
      asksProvider: false,
      send: ({ openai }) => openai.post(`/prompts/${saved.prompt}/render`, { body: { variables: { name: 'Ann' }, top_p: 1 } }),
      expected: { success: true, data: { model: 'm', top_p: 1, messages: [{ role: 'user', content: 'Hello Ann' }] } },
    },
  ],
  'GET /prompts/{id}/variables': [
    {
      by: 'openai',
      asksProvider: false,
      send: ({ openai }) => openai.get(`/prompts/${saved.prompt}/variables`),
      expected: { object: 'list', total: 1, data: [{ name: 'name', use: 'value', sections: [] }] },
    },
  ],
  'POST /prompts/{id}/completions': [
    {
      by: 'openai',
      at: '/v1/chat/completions',
      send: ({ openai }) => openai.post(`/prompts/${saved.prompt}/completions`, { body: { variables: { name: 'Ann' } } }),
      expected: { object: 'chat.completion', choices: [{ message: { content: 'You said: Hello Ann' } }] },
    },
    {
      by: 'openai, streamed',
      at: '/v1/chat/completions',
      send: async ({ openai }) => {
        const body = { variables: { name: 'Ann' }, stream: true };
        const stream = await openai.post<AsyncIterable<{ choices: { delta: { content?: string } }[] }>>(
          `/prompts/${saved.prompt}/completions`,
          { body, stream: true } as object,
        );
        return (await collect(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      },
      expected: 'You said: Hello Ann',
    },
  ],
  'POST /guardrails/invoke': [
    {
      by: 'plain HTTP',
      asksProvider: false,
      send: ({ plain }) => plain('POST', '/guardrails/invoke', { guardrails: [saved.guardrail], text: 'hello' }),
      expected: { object: 'guardrail.invocation', verdict: true },
    },
  ],
};
