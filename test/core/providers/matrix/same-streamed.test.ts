import { describe, expect, it } from 'vitest';
import { providerCases } from './provider-cases.ts';
import { providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type Format, type ModelReply, scenarios } from './scenarios.ts';

const formats: readonly Format[] = ['chat', 'messages', 'responses'];
const asked = scenarios.find(({ name }) => name === 'text') as (typeof scenarios)[number];
const repliesPerCase = 25;

/** Numbers from 0 to below 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const words = ['Bern', 'Zürich', '"quoted"', '\\', '{"a":', '\n\n', '…', '🏔️', 'data: [DONE]', ' ', '</x>', '\u2028'];

function someReply(random: () => number): ModelReply {
  const count = (max: number): number => Math.floor(random() * (max + 1));
  const text = (): string => `${Array.from({ length: 1 + count(5) }, () => words[count(words.length - 1)]).join('')}x`;
  const thoughts = Array.from({ length: count(2) }, (_, index) => ({ text: text(), signature: `c2ln${index}` }));
  const calls = Array.from({ length: count(3) }, (_, index) => ({
    id: `call_${index}aaaa`,
    name: `tool_${index}`,
    arguments: count(1) === 0 ? {} : { place: text(), list: [count(9), null, { deep: text() }] },
  }));
  const says = calls.length === 0 || count(1) === 0;
  return {
    ...(thoughts.length > 0 ? { thoughts } : {}),
    ...(count(2) === 0 ? { sealed: 'c2VhbGVk' } : {}),
    ...(says ? { text: text() } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    end: calls.length > 0 ? 'calls' : (['end', 'length', 'filter', 'stop-sequence'] as const)[count(3)],
    tokens: { input: count(99), cached: count(9), output: 1 + count(99), thought: 0 },
  } as ModelReply;
}

/** The official clients read the same content from streamed and plain forms of random replies, and both report the same names. */
describe.each(providerCases.map((provider, index) => [provider.name, provider, index] as const))('%s', (_, provider, seed) => {
  it.each(formats)('streams the same content as the plain reply, in the format of %s', async (format) => {
    const random = seeded(seed * 101 + formats.indexOf(format));
    for (let n = 0; n < repliesPerCase; n++) {
      const reply = someReply(random);
      const made = providerFetch(provider, format, [reply], { strict: n % 2 === 0 });
      const params = { model: provider.model, ...asked.asked[format] };
      const plain = await readByClient(format, made, params, false);
      expect(await readByClient(format, made, params, true), JSON.stringify(reply)).toEqual(plain);
      expect(made.notes[1]).toEqual(made.notes[0]);
    }
  });
});
