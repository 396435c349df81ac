import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { anthropic } from '../../../core/providers/anthropic/anthropic.ts';
import { deepseek } from '../../../core/providers/deepseek/index.ts';
import { openai } from '../../../core/providers/openai/index.ts';
import { messagesOverChat } from '../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { callOf, translated } from './contract-suite.ts';
import { eventsOfText, textOfEvents } from './event-stream-text.ts';
import { type CallCase, fixturesOf } from './provider-fixtures.ts';

/** The official clients read the output of the adapters over a real connection. */
let server: Server | null = null;
afterEach(() => new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve))));

/** Replies to every request as the gateway would, from the provider's recorded response of this case. */
async function serve(operation: Operation, fixture: CallCase): Promise<string> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const params: JsonObject = JSON.parse(Buffer.concat(chunks).toString());
      const call = callOf(params, fixture, {});
      operation.toProvider?.(params, call);
      if (params.stream === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
        response.end(textOfEvents(translated(operation, eventsOfText(fixture.chunks as string), call)));
      } else {
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
        response.end(JSON.stringify(operation.fromProvider?.(fixture.providerReply, call)));
      }
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const streamedOnly = (id: string, operation: string) =>
  fixturesOf(id).calls.filter((fixture) => fixture.operation === operation && fixture.chunks !== null);

describe.each(
  fixturesOf('../translate/messages-over-chat')
    .calls.filter((fixture) => fixture.chunks !== null)
    .map((fixture) => [fixture.name, fixture] as const),
)('Anthropic client over a chat provider: %s', (_, fixture) => {
  const { provider } = fixture as CallCase & { provider?: string };
  const operation = messagesOverChat((provider === 'deepseek' ? deepseek : openai).operations.chatComplete as Operation);

  it('builds the same message from the stream as from the plain reply', async () => {
    const client = new Anthropic({ apiKey: 'k', baseURL: await serve(operation, fixture), maxRetries: 0 });
    const params = fixture.request as unknown as Anthropic.MessageCreateParamsNonStreaming;
    const plain = await client.messages.create(params);
    const streamed = await client.messages.stream(params).finalMessage();
    expect(plain).toMatchObject(fixture.reply);
    expect({ content: streamed.content, reason: streamed.stop_reason, usage: streamed.usage }).toMatchObject({
      content: plain.content,
      reason: plain.stop_reason,
      usage: plain.usage,
    });
  });
});

describe.each(streamedOnly('anthropic', 'chatComplete').map((fixture) => [fixture.name, fixture] as const))(
  'the OpenAI client over anthropic: %s',
  (_, fixture) => {
    it('builds the same completion from the stream as from the plain reply', async () => {
      const operation = anthropic.operations.chatComplete as Operation;
      const client = new OpenAI({ apiKey: 'k', baseURL: await serve(operation, fixture), maxRetries: 0 });
      const params = fixture.request as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const plain = await client.chat.completions.create(params);
      const events = client.chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } });
      const [choice] = (await events.finalChatCompletion()).choices;
      const expected = plain.choices[0];
      expect(choice?.message.content ?? '').toBe(expected?.message.content ?? '');
      expect(choice?.finish_reason).toBe(expected?.finish_reason);
      expect(callsIn(choice?.message)).toEqual(callsIn(expected?.message));
      expect((await events.totalUsage()).total_tokens).toBe(plain.usage?.total_tokens);
    });
  },
);

/** Names, ids and arguments. Providers differ in the white space of streamed arguments. */
function callsIn(message: OpenAI.ChatCompletionMessage | undefined) {
  return (message?.tool_calls ?? []).map((call) =>
    call.type === 'function' ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : [],
  );
}
