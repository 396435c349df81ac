import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { respond } from '../../../../core/providers/mock/respond.ts';

type Operation = Parameters<typeof respond>[0];

const send = (operation: Operation, body: JsonObject) => respond(operation, Buffer.from(JSON.stringify(body)), 0);
const lengthOf = ({ chunks }: ReturnType<typeof respond>) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
const calls = `tool=${Array(128).fill('f').join(',')}`;
const long = 'a'.repeat(300_000);
const saying = (content: string) => ({ messages: [{ role: 'user', content }] });
const constant = { type: 'object', properties: { a: { const: long } } };

it.each<[string, JsonObject, number]>([
  ['the name of the model in each event', { model: `text:${long};chunks=100000`, stream: true, ...saying('hi') }, 30_000_000],
  ['events of many calls', { model: `echo;${calls};chunks=100000`, stream: true, ...saying('hi') }, 30_000_000],
  ['a long text in each call', { model: `echo;${calls}`, ...saying(long) }, 2_000_000],
  [
    'a long constant in each call',
    { model: `echo;${calls}`, ...saying('hi'), tools: [{ type: 'function', function: { name: 'f', parameters: constant } }] },
    2_000_000,
  ],
])('mock: a reply with %s is limited', (_, body, max) => {
  const reply = send('chat', body);
  expect(reply.status).toBe(200);
  expect(lengthOf(reply)).toBeLessThan(max);
});

it.each<[string, Operation, JsonObject]>([
  ['embeddings of many inputs', 'embeddings', { model: 'echo', input: Array(2_049).fill('a') }],
  ['long embeddings of many inputs', 'embeddings', { model: 'echo', input: Array(2_000).fill('a'), dimensions: 1_000 }],
  ['moderations of many inputs', 'moderations', { model: 'echo', input: Array(2_049).fill('a') }],
])('mock: %s are refused', (_, operation, body) => {
  const { status, chunks } = send(operation, body);
  expect(status).toBe(400);
  expect(JSON.parse(String(chunks[0])).error.param).toBe('input');
});

it('mock: embeddings of one list of many tokens have one vector', () => {
  const { chunks } = send('embeddings', { model: 'echo', input: Array.from({ length: 3_000 }, (_, token) => token) });
  expect(JSON.parse(String(chunks[0])).data).toHaveLength(1);
});

it('mock: the first words of a text that ends with much white space are found within the time of one test', () => {
  const { chunks } = send('chat', { model: 'echo', max_tokens: 1, ...saying(`one two${' '.repeat(1_000_000)}`) });
  expect(JSON.parse(String(chunks[0])).choices[0].message.content).toBe('one');
}, 20_000);

it('mock: words are divided by any white space', () => {
  const { chunks } = send('chat', { model: 'echo', ...saying('\u00a0one\u3000two\n\tthree ') });
  expect(JSON.parse(String(chunks[0])).usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3 });
});

it.each(['__proto__', 'constructor'])('mock: %s is no option', (name) => {
  const { status, chunks } = send('chat', { model: `echo;${name}`, ...saying('hi') });
  expect(status).toBe(400);
  expect(String(chunks[0])).toContain('there is no option');
});
