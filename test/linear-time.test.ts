import * as v from 'valibot';
import { expect, it } from 'vitest';
import { maskSecrets } from '../admin/audit/mask-secrets.ts';
import { usableInterfaces } from '../admin/resources/agent-integrations/card-schema.ts';
import { readOpenApi } from '../admin/resources/mcp-integrations/rest/read-openapi.ts';
import { findSuspicious } from '../admin/resources/mcp-integrations/tool-findings.ts';
import { createBody } from '../admin/resources/prompt-labels/schema.ts';
import { checkText, decodeBase64 } from '../admin/sign-in/saml/check-document.ts';
import { scanXml } from '../admin/sign-in/saml/scan-xml.ts';
import { UsageSums } from '../core/batches/sum-usage.ts';
import { messageFromEvents } from '../core/contract/plugin/text/message-from-events.ts';
import type { OperationCall } from '../core/contract/provider/provider.ts';
import type { StreamEvent } from '../core/contract/provider/stream-event.ts';
import { contextLengthCode } from '../core/contract/values/errors/context-length.ts';
import type { JsonObject } from '../core/contract/values/json/json.ts';
import { emptyUsage } from '../core/contract/values/models/usage.ts';
import { EventFrames } from '../core/contract/values/text/event-frames.ts';
import { annotateSources } from '../core/formats/cited-sources.ts';
import { transcribesOnItsOwn } from '../core/formats/gemini/audio/transcription-request.ts';
import { partialCall } from '../core/formats/gemini/chat/partial-call.ts';
import { traitsOf } from '../core/formats/gemini/models.ts';
import { newWork, toGeminiSchema } from '../core/formats/gemini/schema/json-schema.ts';
import { noteOnce } from '../core/formats/note-once.ts';
import { withoutAllowedTools } from '../core/formats/openai/allowed-tools.ts';
import { withToolIndexes } from '../core/formats/openai/tool-indexes.ts';
import { createMasks } from '../core/journal/mask-content.ts';
import { redactText } from '../core/log/redact.ts';
import { EventStream } from '../core/pipeline/attempt/event-stream.ts';
import { modelsInForm } from '../core/pipeline/request/passed-model.ts';
import { compileTemplate } from '../core/prompts/compile-template.ts';
import { azurePriceName } from '../core/provider-settings/price-names.ts';
import { chatStream as converseStream } from '../core/providers/bedrock/converse/chat-stream.ts';
import { eventStream } from '../core/providers/bedrock/event-stream.ts';
import { streamedReply } from '../core/providers/mock/reply-format.ts';
import { exampleOf } from '../core/providers/mock/schema-example.ts';
import { payloadStream } from '../core/providers/sagemaker/payload-stream.ts';
import { ChatMessageReader, type MessageSink } from '../core/translate/chat-message-reader.ts';
import { blocksOfEvents } from '../core/translate/messages-over-chat/block-sequence.ts';
import { withFlatTools } from '../core/translate/tool-namespaces/request.ts';
import { WholeObject } from '../core/translate/whole-object.ts';
import { contentFacts } from '../plugins/cache/content-facts.ts';
import { chatFromEvents, chatToEvents } from '../plugins/cache/forms/chat.ts';
import { rewriters } from '../plugins/guardrails/rewrite-held-events.ts';
import scanText from '../workers/tasks/scan-text.ts';
import { frame as awsFrame } from './core/providers/bedrock/frames.ts';

/**
 * Expressions over texts of clients, providers and other parties run on the main thread, so each takes linear time. A search in quadratic time
 * would exceed the time limit of the test by far.
 */
const n = 400_000;
const timeout = 20_000;
const masks = createMasks([], []);
const frame = { id: 'i', created: 0, createdSeconds: 0, model: 'm' } as unknown as Parameters<typeof streamedReply>[0];
const reply = { text: `a${' '.repeat(n)}`, toolCalls: [], finishReason: 'stop', usage: null } as const;

const call = { dropped: [], adapted: [], strict: false, params: {} } as unknown as OperationCall;
const tools = Array.from({ length: n / 4 }, (_, i) => ({ type: 'function', function: { name: `f${i}` } }));
const manyKeywords = Object.fromEntries(Array.from({ length: n / 20 }, (_, i) => [`k${i}`, 1]));
const recursive = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, { $ref: '#' }]));
const manyProperties = Object.fromEntries(Array.from({ length: n / 20 }, (_, i) => [`p${i}`, { type: 'string' }]));
const citations = Array.from({ length: n / 4 }, () => ({
  type: 'content_block_delta',
  delta: { type: 'citations_delta', citation: {} },
}));
const listedSources = {
  citations: Array.from({ length: n / 8 }, (_, i) => `http://a.example/${i}`),
  search_results: Array.from({ length: n / 8 }, (_, i) => ({ url: `http://a.example/b${i}`, title: 't' })),
};

function readEvent(frame: string, data: string | null): void {
  const events: unknown[] = [];
  const reader = { push: (event: StreamEvent) => events.push(event.data), usage: () => null, complete: () => true };
  const stream = new EventStream(reader, null);
  stream.push(Buffer.from(`${frame}\n\n`));
  expect(events).toEqual(data === null ? [] : [data]);
}

/** One line in the smallest parts, one event of the service for each. */
function lineInParts(count: number): void {
  const decoder = payloadStream.create();
  const part = awsFrame({ ':message-type': 'event' }, 'a');
  for (let i = 0; i < count; i++) decoder.push(part);
  decoder.push(awsFrame({ ':message-type': 'event' }, '\n{"a":1}\r\n'));
  expect(decoder.end()).toEqual([]);
}

/** One long frame in small chunks. */
function frameInChunks(length: number): void {
  const decoder = eventStream.create();
  const bytes = awsFrame({ ':message-type': 'event', ':event-type': 'a' }, '"'.repeat(length));
  let events = 0;
  for (let at = 0; at < bytes.length; at += 10) events += decoder.push(bytes.subarray(at, at + 10)).length;
  expect(events).toBe(1);
}

function variants(count: number): object[] {
  return Array.from({ length: count }, () => ({ type: 'object', properties: { a: {} } }));
}

function schemaFor(allOf: readonly object[], beside: object): void {
  toGeminiSchema(allOf.length > 0 ? { allOf, ...beside } : { ...beside }, 'tools', () => {});
}

/** Reads messages and returns the cited texts. */
function readMessages(messages: readonly JsonObject[]): string[] {
  const texts: string[] = [];
  const sink = {
    annotation: (_: JsonObject, text: string) => texts.splice(texts.length, 0, text),
    text: () => [],
    tool: () => [],
  } as unknown as MessageSink;
  const reader = new ChatMessageReader(sink, call);
  for (const message of messages) reader.add(message, null);
  return texts;
}

function annotation(start_index: number, end_index: number): JsonObject {
  return { type: 'url_citation', url_citation: { start_index, end_index } };
}

/** Assembles a completion from as many chunks, each with an entry of every list. */
function assemble(count: number): void {
  const chunks = Array.from({ length: count }, (_, i) => {
    const delta = { annotations: [i], tool_calls: [{ index: i, id: `c${i}`, function: { name: 'f', arguments: '{}' } }] };
    return { choices: [{ index: 0, delta, logprobs: { content: [i] } }], usage: {} };
  });
  const { choices } = chatFromEvents(chunks) as { choices: [{ message: JsonObject; logprobs: JsonObject }] };
  const [{ message, logprobs }] = choices;
  for (const list of [message.annotations, message.tool_calls, logprobs.content]) expect(list).toHaveLength(count);
}

function assembleMessage(more: readonly JsonObject[]): JsonObject | null {
  return messageFromEvents([
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...more,
    { type: 'message_stop' },
  ]);
}

/** Assembles a message from as many citations, and as many events that each add a field and a count. */
function assembleLong(count: number): void {
  const delta = { type: 'citations_delta', citation: {} };
  const cited = Array.from({ length: count }, () => ({ type: 'content_block_delta', index: 0, delta }));
  const counted = Array.from({ length: count / 10 }, (_, i) => ({
    type: 'message_delta',
    delta: { [`d${i}`]: i },
    usage: { [`c${i}`]: i },
  }));
  const { content, usage } = assembleMessage([...cited, ...counted]) as { content: [JsonObject]; usage: JsonObject };
  expect(content[0].citations).toHaveLength(count);
  expect(Object.keys(usage)).toHaveLength(count / 10 + 1);
}

/** A block of Converse that arrives in as many lists. */
function blockInLists(count: number): void {
  const stream = converseStream({ ...call, newId: () => 'c', nowSeconds: 0, model: 'm' } as unknown as OperationCall);
  const push = (event: string, data: JsonObject) => stream.push({ event, data: { contentBlockIndex: 0, ...data } });
  for (let i = 0; i < count; i++) push('contentBlockDelta', { delta: { toolResult: [{ text: `${i}` }] } });
  expect(JSON.stringify(push('contentBlockStop', {}))).toContain(`{"text":"${count - 1}"}`);
}

/** Rewrites a held stream with as many choices, and one with as many parts of an item. */
function rewriteHeld(count: number): void {
  const each = Array.from({ length: count }, (_, index) => index);
  const chat = rewriters.chat(
    each.map((index) => ({ index, message: {} })),
    (_, piece) => piece,
  );
  for (const index of each) chat({ choices: [{ index, delta: { content: 'a' } }] });
  const responses = rewriters.responses([{ content: each.map((index) => ({ text: `${index}` })) }], (_, piece) => piece);
  const done = (content_index: number) =>
    responses({ type: 'response.output_text.done', output_index: 0, content_index, text: 'a' }).text;
  expect(each.map(done)).toEqual(each.map(String));
}

function sumBatch(count: number): void {
  const sums = new UsageSums(null);
  for (let i = 0; i < count; i++) sums.add('m', { ...emptyUsage(), raw: { all: 1, [`count${i}`]: 1, [`other${i}`]: 1 } });
  expect(Object.keys(sums.parts[0]?.raw ?? {})).toHaveLength(200);
  expect(sums.parts[0]?.raw).toMatchObject({ all: count, count0: 1 });
}

function allowNamespaces(count: number): void {
  const named = (name: string) => Array.from({ length: count }, (_, i) => ({ type: 'namespace', name: name + i, tools: [] }));
  withFlatTools({ tools: named('a'), tool_choice: { type: 'allowed_tools', tools: named('b') } }, call);
}

function argumentsInPieces(count: number): void {
  const object = new WholeObject();
  object.push('{"a":"');
  for (let i = 0; i < count; i++) {
    object.push('aaaa');
    expect(object.isWhole()).toBe(false);
  }
  object.push('"}');
  expect(object.isWhole()).toBe(true);
}

function unknownParams(count: number): void {
  const names: string[] = [];
  for (let i = 0; i < count; i++) noteOnce(names, `name-${i}`);
  expect(names.length).toBe(500);
}

/** A call without an index after one with this index. */
function indexedCalls(index: number): void {
  const chunk = (toolCall: object) => ({ choices: [{ index: 0, delta: { tool_calls: [toolCall] } }] });
  const complete = withToolIndexes();
  complete(chunk({ id: 'other' }));
  complete(chunk({ id: 'a', index }));
  expect(complete(chunk({ id: 'b' }))).toEqual(chunk({ id: 'b', index: index + 1 }));
  expect(complete(chunk({ id: 'a' }))).toEqual(chunk({ id: 'a', index }));
}

it.each<[string, () => unknown]>([
  ['bodies in logs, with many schemes', () => masks.body('a.'.repeat(n))],
  ['bodies in logs, with many beginnings of a JWT', () => masks.body('-eyJ'.repeat(n))],
  ['bodies in logs, with many beginnings of a URL', () => masks.body('a://:'.repeat(n))],
  ['headers in logs, with JSON of many brackets', () => masks.headers(['x-svc-config', `{"a":${'['.repeat(n)}`])],
  ['audit entries, with many URLs', () => maskSecrets('://?a://a'.repeat(n / 4))],
  ['log lines, with many schemes', () => redactText('a.'.repeat(n))],
  ['log lines, with many beginnings of a JWT', () => redactText('-eyJ'.repeat(n))],
  ['SAML responses with white space', () => expect(() => decodeBase64(`A${' '.repeat(n * 0.75)}!`)).toThrow('not base64')],
  [
    'SAML responses with a long algorithm',
    () => expect(() => checkText(Buffer.from(`<EncryptionMethod Algorithm="${'#rsa-oaep'.repeat(n / 8)}"/>`), [])).toThrow(),
  ],
  ['SAML responses with elements that are not closed', () => scanXml('<a>'.repeat(n))],
  ['SAML responses with an element of many attributes', () => scanXml(`<a${' b="c"'.repeat(n)}`)],
  ['SAML responses with many references', () => scanXml(`<a>${'&#65;'.repeat(n)}</a>`)],
  ['metadata with many beginnings of a comment', () => scanXml(`<a>${'<!--'.repeat(n)}`)],
  ['white space before the mock provider', () => streamedReply(frame, { ...reply, text: ' '.repeat(n) }, null, {})],
  ['white space within a text of the mock provider', () => streamedReply(frame, reply, null, {})],
  [
    'many words of the mock provider, which share events',
    () => expect(streamedReply(frame, { ...reply, text: 'a '.repeat(n) }, null, {}).length).toBeLessThan(6_000),
  ],
  ['forms with many fields', () => modelsInForm('\r\n--b\r\nname=model\n'.repeat(n), 'multipart/form-data; boundary=b')],
  [
    'paths of partial arguments',
    () => partialCall({}, null).add({ partialArgs: [{ jsonPath: `${'a'.repeat(n)}"`, stringValue: '' }] }),
  ],
  ['names of labels', () => v.safeParse(createBody, { name: `${'a'.repeat(n)}@` })],
  ['words of punctuation in prompts', () => contentFacts(`a${'!'.repeat(n)}a ${'-'.repeat(n)}1 \`${'`'.repeat(n)}x`)],
  ['templates of one long text', () => compileTemplate('a '.repeat(n / 2), { isRaw: false })],
  ['templates of many tags in a line', () => compileTemplate('{{a}}'.repeat(n / 5), { isRaw: false })],
  ['templates of many sections in a line', () => compileTemplate(' {{#a}} {{/a}}'.repeat(n / 20), { isRaw: false })],
  ['tags of much white space', () => compileTemplate(`{{a${' '.repeat(n)}b}}`, { isRaw: false })],
  ['definitions of tools', () => findSuspicious({ description: `<${' '.repeat(n)}` })],
  ['streams of line ends LF', () => new EventFrames().push(Buffer.from('\n'.repeat(n)))],
  ['streams of line ends CR LF', () => new EventFrames().push(Buffer.from('\r\n'.repeat(n)))],
  ['events of many comments', () => readEvent(':\n'.repeat(n), null)],
  ['events of many unknown fields', () => readEvent(`${'x\r\n'.repeat(n)}data: a\nretry: x\n`, 'a')],
  ['events of many lines', () => readEvent('data: a\n'.repeat(99_999), 'a\n'.repeat(99_999).slice(0, -1))],
  ['events of many lines that end in CR', () => readEvent('data: a\r'.repeat(99_999), 'a\n'.repeat(99_999).slice(0, -1))],
  ['replies with many fences', () => scanText({ scan: 'json', text: '```'.repeat(n) })],
  ['replies with an address before many marks', () => scanText({ scan: 'urls', text: `https://a${'.'.repeat(n)}x` })],
  ['streams of SageMaker with a line in many parts', () => lineInParts(n / 4)],
  ['frames of Bedrock in small chunks', () => frameInChunks(10 * n)],
  ['names of models of Gemini', () => traitsOf('gemini-z'.repeat(n))],
  ['names of models of Gemini that transcribe', () => transcribesOnItsOwn('gemini-.'.repeat(n))],
  ['names of models of Azure', () => azurePriceName(`${'.ft'.repeat(n)}\n`)],
  ['errors of providers', () => contextLengthCode(400, 'input token count '.repeat(n / 8))],
  ['arguments of tools in small pieces', () => argumentsInPieces(n)],
  ['unknown parameters', () => unknownParams(n)],
  ['allowed tools', () => withoutAllowedTools({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { tools } } }, call)],
  ['tool calls that begin with a huge index', () => indexedCalls(4_294_967_294)],
  ['schemas of many parts', () => schemaFor([manyKeywords, ...Array.from({ length: n / 20 }, () => ({}))], {})],
  ['schemas with variants beside many keywords', () => schemaFor([], { ...manyKeywords, anyOf: variants(n / 20) })],
  ['schemas with variants beside many properties', () => schemaFor([], { properties: manyProperties, anyOf: variants(n / 20) })],
  [
    'schemas with variants beside many required names',
    () => schemaFor([], { required: Object.keys(manyProperties), anyOf: variants(n / 20) }),
  ],
  ['usage of a batch with other names in each request', () => sumBatch(n / 10)],
  ['streams with lists that grow, as plain replies', () => assemble(n / 2)],
  ['streams of Messages with fields that grow, as plain replies', () => assembleLong(n)],
  ['blocks of Bedrock in small lists', () => blockInLists(n / 2)],
  ['examples of schemas with many items', () => exampleOf({ type: 'array', minItems: 4_000_000_000, items: {} }, 'a')],
  ['examples of schemas with many references', () => exampleOf({ properties: recursive }, 'a')],
  ['held streams of many choices and parts', () => rewriteHeld(n / 4)],
  ['namespaces among the allowed tools', () => allowNamespaces(n / 8)],
  [
    'annotations of text that comes later',
    () =>
      readMessages([
        {
          annotations: Array.from({ length: n / 8 }, () => annotation(0, n)),
          content_blocks: Array.from({ length: n / 8 }, () => ({ type: 'text', text: 'a' })),
        },
      ]),
  ],
  [
    'annotations of each piece of a text',
    () => readMessages(Array.from({ length: n / 4 }, () => ({ content: 'a'.repeat(20), annotations: [annotation(0, 1)] }))),
  ],
  [
    'calls of tools in another order than their blocks',
    () =>
      readMessages([
        {
          tool_calls: Array.from({ length: n / 2 }, (_, i) => ({ id: `c${i}` })),
          content_blocks: Array.from({ length: n / 2 }, (_, i) => ({ type: 'tool_use', id: `c${n / 2 - 1 - i}` })),
        },
      ]),
  ],
  ['citations of a plain reply', () => blocksOfEvents([{ type: 'content_block_start', content_block: {} }, ...citations])],
  ['sources with titles', () => annotateSources()({ choices: [{ message: {}, finish_reason: 'stop' }], ...listedSources })],
  ['addresses in cards', () => usableInterfaces('http://a.example', { url: `http://a.example${'/'.repeat(n)}x` })],
])('%s take linear time', { timeout }, (_, run) => {
  expect(run).not.toThrow();
});

it('cached chats are converted only if the other form has a similar size', () => {
  const toolCalls = (...indexes: number[]) => indexes.map((index) => ({ index, function: { name: 'f', arguments: '{}' } }));
  const chunk = (tool_calls: unknown) => ({ choices: [{ index: 0, delta: { tool_calls } }], usage: {} });
  expect(chatFromEvents([chunk(toolCalls(0, 1))])).not.toBeNull();
  expect(chatFromEvents([chunk(toolCalls(0, 4_294_967_293))])).toBeNull();
  const reply = (count: number) => ({
    note: 'a'.repeat(1_000_000),
    choices: Array.from({ length: count }, () => ({ message: {} })),
  });
  expect(chatToEvents(reply(2), false)).not.toBeNull();
  expect(chatToEvents(reply(20), false)).toBeNull();
});

it('a stream of Messages whose blocks begin with a huge index is no plain reply', () => {
  const start = (index: number) => ({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: 't' } });
  const input = (index: number) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
  });
  expect(assembleMessage([start(4_294_967_294), input(4_294_967_294)])).toBeNull();
  expect(assembleMessage([start(1), input(1)])?.content).toEqual([
    { type: 'text', text: '' },
    { type: 'tool_use', id: 't', input: { a: 1 } },
  ]);
});

it('annotations have the cited text and their order, and cite at most 10 million characters', () => {
  const block = (text: string) => ({ type: 'text', text });
  expect(
    readMessages([
      {
        content_blocks: [block('abc'), block('def'), block('ghi')],
        annotations: [annotation(2, 7), annotation(0, 4), annotation(3, 6)],
      },
      { content: 'jkl', annotations: [annotation(8, 99), annotation(5, 5), annotation(40, 50)] },
    ]),
  ).toEqual(['abcd', 'def', 'cdefg', 'ijkl', '', '']);
  const all = Array.from({ length: 200 }, () => annotation(0, 100_000));
  expect(readMessages([{ content: 'a'.repeat(100_000), annotations: all }]).join('').length).toBe(10_000_000);
});

it('schemas of one request are cut off where their references expand to more than the request could hold', { timeout }, () => {
  const properties = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`p${i}`, { $ref: '#/$defs/a' }]));
  const notes = new Set<string>();
  const work = newWork();
  const long = { type: 'string', description: 'a'.repeat(100_000) };
  const compile = (a: object) => toGeminiSchema({ $defs: { a }, properties }, 'tools', (keyword) => notes.add(keyword), work);
  expect(JSON.stringify(compile(long)).length).toBeGreaterThan(7_000_000);
  expect(notes).not.toContain('size');
  expect(JSON.stringify(compile(long)).length).toBeLessThan(4_000_000);
  expect(notes).toContain('size');
  expect(compile({ type: 'object', properties })).toEqual({ type: 'OBJECT' });
  const many = newWork();
  for (let i = 0; i < 100; i++) toGeminiSchema({ anyOf: variants(3_000) }, 'tools', () => {}, many);
  expect(many.nodes).toBeLessThan(n);
  expect(toGeminiSchema({ type: 'string' }, 'tools', () => {}, many)).toEqual({ type: 'OBJECT' });
});

it('OpenAPI documents in YAML: many keys take linear time, and a key twice is refused with its line', { timeout }, () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n');
  expect(() => readOpenApi(keys(40_000))).toThrow('at most 30000 keys');
  expect(() => readOpenApi('openapi: 3.1.0\ninfo:\n  title: a\n  title: b\n')).toThrow(
    'line 4, column 3: Map keys must be unique',
  );
});

it('credentials are masked where a search in linear time finds them', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(30)}.${'c'.repeat(20)}`;
  expect(redactText(`x ${jwt}, a.b-${jwt}.d and ${jwt.slice(0, 40)}`)).toBe('x eyJ***, a.b-eyJ***.d and eyJ***');
  expect(redactText('postgres://user:secret@host/db and a.b.c://:p@h, eyJ.a.b')).toBe(
    'postgres://user:***@host/db and a.b.c://:***@h, eyJ.a.b',
  );
});
