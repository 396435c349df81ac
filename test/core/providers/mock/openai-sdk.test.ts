import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mockSender } from '../../../../core/providers/mock/in-process.ts';
import { mockCall } from './recorded-exchange.ts';

/** The mock provider over a real socket, read by the official client. */
const sender = mockSender();
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  sender.send(mockCall('', { path: request.url ?? '/', method: request.method ?? 'GET', body }), {
    onHead: (status, headers) => void response.writeHead(status, headers),
    onData: (chunk) => response.write(chunk),
    onEnd: () => void response.end(),
    onError: () => void response.destroy(),
  });
});
let client: OpenAI;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none', maxRetries: 0 });
});

afterAll(() => server.close());

const messages = [{ role: 'user' as const, content: 'hello out there' }];

describe('the OpenAI SDK against the mock', () => {
  it('reads a plain and a streamed chat completion', async () => {
    const plain = await client.chat.completions.create({ model: 'echo', messages });
    expect(plain.choices[0]?.message.content).toBe('hello out there');
    const stream = client.chat.completions.stream({ model: 'echo', messages, stream_options: { include_usage: true } });
    expect(await stream.finalContent()).toBe('hello out there');
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 3, completion_tokens: 3 });
  });

  it('assembles streamed tool calls', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'sum', parameters: { type: 'object', properties: { a: { type: 'integer' } } } },
      },
    ];
    const stream = client.chat.completions.stream({ model: 'tool=sum', messages, tools });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] as OpenAI.Chat.ChatCompletion.Choice;
    expect(message.tool_calls).toMatchObject([{ function: { name: 'sum', arguments: '{"a":1}' } }]);
    expect(finish_reason).toBe('tool_calls');
  });

  it('decodes embeddings', async () => {
    const { data } = await client.embeddings.create({ model: 'echo', input: ['blue', 'green'], dimensions: 4 });
    expect(data.map((row) => row.embedding.length)).toEqual([4, 4]);
  });

  it('raises the error of an injected status', async () => {
    await expect(client.chat.completions.create({ model: 'status=429', messages })).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  it('notices a cut stream', async () => {
    const stream = await client.chat.completions.create({ model: 'echo;cut=2', messages, stream: true });
    const readAll = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    await expect(readAll()).rejects.toThrow();
  });
});
