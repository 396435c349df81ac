import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { withAdapters } from '../../../../core/providers/index.ts';
import { callOf, translated } from '../contract-suite.ts';
import { textOfEvents } from '../event-stream-text.ts';

/** Agents built for other formats run their loop with Gemini: it calls a tool with a signature, gets the result and replies. */
let server: Server | null = null;
const asked: JsonObject[] = [];
afterEach(() => {
  asked.length = 0;
  return new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
});

const adapter = withAdapters(google);
const counts = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const meta = { usageMetadata: counts, modelVersion: 'gemini-3.8-flash', responseId: 'r1' };
const signedCall = { functionCall: { id: 'fc-1', name: 'get_weather', args: { city: 'Bern' } }, thoughtSignature: 'U0lHTkVE' };

/**
 * Returns Gemini's plain response to this request. Rejects a call that returns without a signature, as the real API does.
 */
function gemini(request: JsonObject): JsonObject {
  const contents = request.contents as { role: string; parts: JsonObject[] }[];
  const calls = contents.flatMap(({ parts }) => parts.filter((part) => part.functionCall));
  if (calls.some((part) => part.thoughtSignature === undefined)) throw new Error('a function call without a signature');
  const result = contents.at(-1)?.parts.some((part) => part.functionResponse);
  const parts = result ? [{ text: 'Rain in Bern.' }] : [signedCall];
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], ...meta };
}

/** Replies as the gateway would, with `gemini` behind the adapter. Streams have two events. */
async function serve(): Promise<string> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const params: JsonObject = JSON.parse(Buffer.concat(chunks).toString());
      const operation = adapter.operations[request.url?.endsWith('/messages') ? 'messages' : 'chatComplete'];
      if (!operation) throw new Error(`no operation for ${request.url}`);
      const call = callOf(params, {}, {});
      const sent = operation.toProvider?.(params, call) ?? params;
      asked.push(sent);
      const reply = gemini(sent);
      if (params.stream === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
        const last = { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }], ...meta };
        const [candidate] = reply.candidates as JsonObject[];
        const first = { ...reply, candidates: [{ content: candidate?.content, index: 0 }] };
        response.end(
          textOfEvents(
            translated(
              operation,
              [
                { event: null, data: first },
                { event: null, data: last },
              ],
              call,
            ),
          ),
        );
      } else {
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
        response.end(JSON.stringify(operation.fromProvider?.(reply, call)));
      }
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Signatures of the calls in the last request. */
function signaturesSent(): unknown[] {
  const contents = asked.at(-1)?.contents as { parts: JsonObject[] }[];
  return contents.flatMap(({ parts }) => parts.filter((part) => part.functionCall).map((part) => part.thoughtSignature));
}

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

describe('the OpenAI client returns the signature of a call', () => {
  it.each(['plain', 'streamed'])('%s', async (kind) => {
    const client = new OpenAI({ apiKey: 'k', baseURL: await serve(), maxRetries: 0 });
    const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather in Bern?' }];
    const params = { model: 'gemini-3.8-flash', messages, tools };
    const first =
      kind === 'plain'
        ? (await client.chat.completions.create(params)).choices[0]
        : (await client.chat.completions.stream({ ...params, stream: true }).finalChatCompletion()).choices[0];
    expect(first?.finish_reason).toBe('tool_calls');
    messages.push(first?.message as OpenAI.ChatCompletionMessageParam);
    messages.push({ role: 'tool', tool_call_id: first?.message.tool_calls?.[0]?.id ?? '', content: 'rain' });
    const second = await client.chat.completions.create(params);
    expect(second.choices[0]?.message.content).toBe('Rain in Bern.');
    expect(signaturesSent()).toEqual(['U0lHTkVE']);
  });
});

describe('the Anthropic client returns the signature of a thinking block', () => {
  it.each(['plain', 'streamed'])('%s', async (kind) => {
    const client = new Anthropic({ apiKey: 'k', baseURL: (await serve()).replace('/v1', ''), maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather in Bern?' }];
    const params = {
      model: 'gemini-3.8-flash',
      max_tokens: 100,
      messages,
      tools: [{ name: 'get_weather', input_schema: parameters as never }],
    };
    const first = kind === 'plain' ? await client.messages.create(params) : await client.messages.stream(params).finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    messages.push({ role: 'assistant', content: first.content });
    const use = first.content.find((block) => block.type === 'tool_use');
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: 'rain' }] });
    const second = await client.messages.create(params);
    expect(second.content).toMatchObject([{ type: 'text', text: 'Rain in Bern.' }]);
    expect(signaturesSent()).toEqual(['U0lHTkVE']);
  });
});

describe('a Vercel AI SDK agent finishes although it drops signatures', () => {
  const weather = tool({
    description: 'Weather',
    inputSchema: jsonSchema<{ city: string }>(parameters as object),
    execute: async ({ city }) => `rain in ${city}`,
  });
  const options = async () => ({
    model: createOpenAI({ apiKey: 'k', baseURL: await serve() }).chat('gemini-3.8-flash'),
    prompt: 'Weather in Bern?',
    tools: { get_weather: weather },
    stopWhen: stepCountIs(4),
    maxRetries: 0,
  });

  it('plain', async () => {
    const result = await generateText(await options());
    expect([result.text, result.steps.length]).toEqual(['Rain in Bern.', 2]);
    expect(signaturesSent()).toEqual(['skip_thought_signature_validator']);
  });

  it('streamed', async () => {
    const result = streamText(await options());
    expect([await result.text, (await result.steps).length]).toEqual(['Rain in Bern.', 2]);
    expect(signaturesSent()).toEqual(['skip_thought_signature_validator']);
  });
});
