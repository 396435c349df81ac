import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { expectGolden } from './golden.ts';
import { providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type RichReply, richReplies } from './rich-replies.ts';
import type { Format, ModelReply } from './scenarios.ts';

/** A format in which a client may ask, and whether it insists on OpenAI's. */
const readers: readonly { name: string; format: Format; strict: boolean }[] = [
  { name: 'chat', format: 'chat', strict: true },
  { name: 'chat-lenient', format: 'chat', strict: false },
  { name: 'messages', format: 'messages', strict: true },
  { name: 'responses', format: 'responses', strict: true },
];

const asked: Readonly<Record<Format, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  messages: { max_tokens: 300, messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x', store: false },
};

/**
 * Replies that hold more than text and tool calls (citations, images, what the provider's own tools did, blocks of tomorrow), each as
 * a plain reply and as a stream. What a client reads of them, and what is reported as lost, is a golden file and the same for both.
 */
describe.each(richReplies.map((reply) => [reply.name, reply] as const))('%s', (name, reply) => {
  const asking = readers.filter(({ format }) => format !== 'responses' || reply.overChat !== false);
  it.each(asking.map((reader) => [reader.name, reader] as const))('read as %s', async (reader, { format, strict }) => {
    const provider = { ...reply.provider, wires: { chat: wireOf(reply), messages: wireOf(reply), responses: wireOf(reply) } };
    const made = providerFetch(provider, format, [anything], { strict });
    const params = { model: reply.provider.model, ...asked[format] };
    const plain = await readByClient(format, made, params, false);
    const streamed = await readByClient(format, made, params, true);
    expect(streamed).toEqual(plain);
    expect(made.notes[1]).toEqual(made.notes[0]);
    expectGolden(`rich/${name}/${reader}`, { ...made.notes[0], reply: JSON.parse(made.replies[0] as string) });
  });
});

/** The wires of these cases say the same whatever they are asked. */
const anything: ModelReply = { end: 'end', tokens: { input: 0, cached: 0, output: 0, thought: 0 } };

function wireOf({ plain, events, frames, streamType }: RichReply) {
  return {
    plain: () => plain,
    stream: () => [...events],
    fault: { event: null, data: {} },
    limited: {},
    ...(frames ? { frames, streamType } : {}),
  };
}
