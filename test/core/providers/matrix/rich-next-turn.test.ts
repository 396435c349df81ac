import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type RichReply, richReplies } from './rich-replies.ts';
import type { Format, ModelReply } from './scenarios.ts';

const anything: ModelReply = { end: 'end', tokens: { input: 0, cached: 0, output: 0, thought: 0 } };

/** The model's turn as the provider gets it back from a client of this format that goes on with the conversation. */
async function returned(name: string, format: Format): Promise<{ body: JsonObject; dropped: readonly string[] }> {
  const { provider, plain, events, frames, streamType } = richReplies.find((one) => one.name === name) as RichReply;
  const said = { plain: () => plain, stream: () => [...events], fault: { event: null, data: {} }, limited: {} };
  const wire = { ...said, ...(frames ? { frames, streamType } : {}) };
  const made = providerFetch({ ...provider, wires: { chat: wire, messages: wire, responses: wire } }, format, [anything], {
    strict: format !== 'chat',
  });
  const user = { role: 'user', content: 'x' };
  const { model } = provider;
  const first = format === 'responses' ? { model, input: [user] } : { model, max_tokens: 300, messages: [user] };
  await readByClient(format, made, first, false);
  const reply = JSON.parse(made.replies[0] as string);
  const turns: Record<Format, () => JsonObject> = {
    chat: () => ({ ...first, messages: [user, reply.choices[0].message, user] }),
    messages: () => ({ ...first, messages: [user, { role: 'assistant', content: reply.content }, user] }),
    responses: () => ({ ...first, input: [user, ...reply.output, user] }),
  };
  await readByClient(format, made, turns[format](), false);
  const { body = {}, dropped = [] } = made.sent[1] ?? {};
  return { body, dropped };
}

async function geminiParts(name: string, format: Format): Promise<unknown> {
  const { body } = await returned(name, format);
  return (body.contents as JsonObject[])[1]?.parts;
}

const partsOf = (name: string): JsonObject[] => {
  const { plain } = richReplies.find((one) => one.name === name) as RichReply;
  const [candidate] = plain.candidates as { content: { parts: JsonObject[] } }[];
  return candidate?.content.parts ?? [];
};

describe('the next turn with Gemini', () => {
  it.each<Format>(['chat', 'messages', 'responses'])('returns signatures to their parts, in the format of %s', async (format) => {
    expect(await geminiParts('gemini-signed-parts', format)).toEqual(partsOf('gemini-signed-parts'));
  });

  it.each<Format>(['chat', 'messages', 'responses'])('returns results of server tools, in the format of %s', async (format) => {
    expect(await geminiParts('gemini-server-tools', format)).toEqual(partsOf('gemini-server-tools'));
    expect((await returned('gemini-server-tools', format)).dropped).toEqual([]);
  });

  it.each<Format>(['chat', 'responses'])('returns an image with its signature, in the format of %s', async (format) => {
    expect(await geminiParts('gemini-thoughts-and-image', format)).toEqual(partsOf('gemini-thoughts-and-image').slice(1));
  });

  it('keeps the signature of an image on an empty text, in the format of messages, which has no images', async () => {
    const [, text, image] = partsOf('gemini-thoughts-and-image');
    expect(await geminiParts('gemini-thoughts-and-image', 'messages')).toEqual([
      text,
      { text: '', thoughtSignature: image?.thoughtSignature },
    ]);
  });
});

describe('the next turn with Claude', () => {
  it.each<Format>(['chat', 'responses'])('returns results of server tools, in the format of %s', async (format) => {
    const { body, dropped } = await returned('anthropic-server-tools', format);
    const { plain } = richReplies.find(({ name }) => name === 'anthropic-server-tools') as RichReply;
    expect((body.messages as JsonObject[])[1]?.content).toEqual(plain.content);
    expect(dropped).toEqual([]);
  });
});

describe('the next turn with Nova', () => {
  it.each<Format>(['chat', 'messages', 'responses'])('returns results of server tools, in the format of %s', async (format) => {
    const { body, dropped } = await returned('converse-server-tools', format);
    const { plain } = richReplies.find(({ name }) => name === 'converse-server-tools') as RichReply;
    const { message } = plain.output as { message: { content: JsonObject[] } };
    expect((body.messages as JsonObject[])[1]?.content).toEqual(message.content);
    expect(dropped).toEqual([]);
  });
});

describe('the next turn with OpenAI', () => {
  it.each<Format>(['chat', 'messages'])('returns results of server tools, in the format of %s', async (format) => {
    const { body, dropped } = await returned('responses-tools', format);
    const { plain } = richReplies.find(({ name }) => name === 'responses-tools') as RichReply;
    const [file, code, mcp] = plain.output as JsonObject[];
    expect((body.input as JsonObject[]).slice(1, 4)).toEqual([file, code, mcp]);
    expect(dropped).toEqual(format === 'chat' ? [] : ['messages.citations']);
  });
});
