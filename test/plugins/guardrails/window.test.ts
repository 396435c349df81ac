import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { checks } from '../../../plugins/guardrails/checks/index.ts';
import type { Guardrail } from '../../../plugins/guardrails/compile.ts';
import type { StreamFormat } from '../../../plugins/guardrails/window/event-texts.ts';
import type { WindowSearch } from '../../../plugins/guardrails/window/search.ts';
import { StreamWindow } from '../../../plugins/guardrails/window/stream-window.ts';
import { createGatewayTasks } from '../../../workers/gateway-tasks.ts';

const tasks = createGatewayTasks({ threads: 1, queueMax: 1, taskMs: 1000, memoryMegabytes: 64, log: { warn: () => {} } });
const services = { tasks, fetch: () => Promise.reject(new Error('not used')) };

function search(id: string, parameters: JsonObject): WindowSearch {
  const prepared = checks
    .get(id)
    ?.prepareWindow?.({ not: false, normalize: false, failOnDetection: false, ...parameters }, services);
  if (typeof prepared !== 'object') throw new Error(`${id}: ${prepared}`);
  return prepared;
}

function windowOf(format: StreamFormat, searches: readonly WindowSearch[]): StreamWindow {
  const guardrail = { deny: true } as Guardrail;
  const check = { id: 'x' } as never;
  return new StreamWindow(
    format,
    searches.map((each) => ({ guardrail, at: 0, check, search: each, findings: 0 })),
    () => ({ reply: { status: 446, headers: [], body: '' }, lastEvents: null }),
  );
}

/** A generator of numbers that a seed determines. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const alphabet = ['a', 'b', 'c', ' ', 'a', 'b', '\n', '1', '2', 'é', '日', '😀'];

/** The events of one text, cut into deltas, in one format. */
function events(format: StreamFormat, deltas: readonly string[], newline: string): string {
  const frame = (event: JsonObject) => {
    const head = format === 'chat' ? '' : `event: ${event.type}${newline}`;
    return `${head}data: ${JSON.stringify(event)}${newline}${newline}`;
  };
  const all = deltas.join('');
  if (format === 'chat') {
    const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
      frame({ id: 'c', choices: [{ index: 0, delta, finish_reason }] });
    const parts = deltas.map((content) => chunk({ content }));
    return [chunk({ role: 'assistant', content: '' }), ...parts, chunk({}, 'stop'), `data: [DONE]${newline}${newline}`].join('');
  }
  if (format === 'messages') {
    const delta = (text: string) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    return [
      frame({ type: 'message_start', message: { content: [] } }),
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...deltas.map(delta),
      frame({ type: 'content_block_stop', index: 0 }),
      frame({ type: 'message_stop' }),
    ].join('');
  }
  const at = { item_id: 'm', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: all };
  const item = { type: 'message', content: [part] };
  const list: JsonObject[] = [
    { type: 'response.created', response: { output: [] } },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '' } },
    ...deltas.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text: all },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { output: [item] } },
  ];
  return list.map((event, index) => frame({ ...event, sequence_number: index })).join('');
}

/** The text that a client puts together, and every text that it sees repeated. */
function received(format: StreamFormat, stream: string): { text: string; whole: string[] } {
  let text = '';
  const whole: string[] = [];
  let sequence = 0;
  for (const block of stream.split(/\r?\n\r?\n/)) {
    const line = block.split(/\r?\n/).find((each) => each.startsWith('data: '));
    if (!line || line === 'data: [DONE]') continue;
    // biome-ignore lint/suspicious/noExplicitAny: events of three formats
    const event = JSON.parse(line.slice(6)) as any;
    if (format === 'chat') text += event.choices[0].delta.content ?? '';
    else if (format === 'messages') text += event.delta?.text ?? '';
    else {
      expect(event.sequence_number).toBe(sequence++);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.output_text.done') whole.push(event.text);
      if (event.type === 'response.content_part.done') whole.push(event.part.text);
      if (event.type === 'response.output_item.done') whole.push(event.item.content[0].text);
      if (event.type === 'response.completed') whole.push(event.response.output[0].content[0].text);
    }
  }
  return { text, whole };
}

function randomly(next: (below: number) => number, bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  const most = 1 + next(60);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + next(most);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

function deltasOf(next: (below: number) => number, text: string): string[] {
  const units = [...text];
  const deltas: string[] = [];
  for (let at = 0; at < units.length; ) {
    const end = at + 1 + next(5);
    deltas.push(units.slice(at, end).join(''));
    at = end;
  }
  return deltas;
}

const formats = ['chat', 'messages', 'responses'] as const;
const replacements = [
  '/a{1,3}b/g',
  '/\\bab\\b/g',
  '/(ab|abc)c?/g',
  '/^a/g',
  '/b$/g',
  '/ab/',
  '/日.?😀/g',
  '/[^a]1\\B/g',
  '/\\d{2,4}/g',
  '/A B/gi',
];

/** A defect that affects one text in 200 is found with a probability of 95 %. */
const texts = process.env.LONG_TESTS ? 4_000 : 600;

describe('a stream in a window', () => {
  it.each(formats)('%s: replaces the same as in the whole text, for random texts and splits', (format) => {
    for (let seed = 0; seed < texts; seed++) {
      const next = numbers(seed * 7919 + 1);
      const text = Array.from({ length: next(40) }, () => alphabet[next(alphabet.length)]).join('');
      const rules = [replacements[next(replacements.length)] as string, replacements[next(replacements.length)] as string];
      const used = rules.slice(0, 1 + next(2));
      const searches = used.map((rule) => search('default.regexReplace', { rule, redactText: 'cc' }));
      const expected = used.reduce((whole, rule) => replaceWhole(rule, whole), text);
      const filter = windowOf(format, searches);
      const bytes = Buffer.from(events(format, deltasOf(next, text), next(3) === 0 ? '\r\n' : '\n'));
      const sent = [...randomly(next, bytes).map((chunk) => filter.write(chunk)), filter.end()];
      const { text: got, whole } = received(format, Buffer.concat(sent).toString());
      expect({ seed, got, whole: new Set([expected, ...whole]).size }).toEqual({ seed, got: expected, whole: 1 });
    }
  });

  it.each(formats)('%s: sends nothing of a denied word, for random texts and splits', (format) => {
    let denied = 0;
    for (let seed = 0; seed < texts; seed++) {
      const next = numbers(seed * 104729 + 3);
      const text = Array.from({ length: next(60) }, () => alphabet[next(alphabet.length)]).join('');
      const words = ['abc', 'b😀', '12', 'a\nb'];
      const found = words.map((word) => text.indexOf(word)).filter((at) => at >= 0);
      const filter = windowOf(format, [
        search('default.contains', { words: words.slice(0, 2), operator: 'none' }),
        search('default.regexMatch', { rule: '12|a\\nb', not: true }),
      ]);
      const bytes = Buffer.from(events(format, deltasOf(next, text), '\n'));
      const sent: Uint8Array[] = [];
      let isDenied = false;
      try {
        for (const chunk of randomly(next, bytes)) sent.push(filter.write(chunk));
        sent.push(filter.end());
      } catch {
        isDenied = true;
        denied++;
      }
      expect({ seed, isDenied }).toEqual({ seed, isDenied: found.length > 0 });
      const { text: got } = received(format, Buffer.concat(sent).toString());
      expect(text.startsWith(got)).toBe(true);
      expect(got.length).toBeLessThanOrEqual(isDenied ? Math.min(...found) : text.length);
      if (!isDenied) expect(got).toBe(text);
    }
    expect(denied).toBeGreaterThan(texts / 8);
  });

  it('holds back no more than the reach of its checks, however long the text is', () => {
    const filter = windowOf('chat', [search('default.contains', { words: ['forbidden'], operator: 'none' })]);
    let sent = '';
    for (let i = 0; i < 20_000; i++) {
      const part = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`;
      sent += Buffer.from(filter.write(Buffer.from(part))).toString();
      if (i % 1000 === 999) expect(received('chat', sent).text.length).toBeGreaterThanOrEqual((i + 1) * 5 - 9);
    }
  });
});

/** Returns the stream that a window sends for these events with `secret` replaced. */
function redacted(format: StreamFormat, list: readonly JsonObject[]): string {
  const filter = windowOf(format, [search('default.regexReplace', { rule: '/secret/g', redactText: 'word' })]);
  const sent = list.map((event) => Buffer.from(filter.write(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))).toString());
  return sent.join('') + Buffer.from(filter.end()).toString();
}

it('a window checks a text beside the delta by itself', () => {
  const chunk = (content: string, finish_reason: string | null) => ({
    choices: [{ index: 0, text: content, delta: { content }, finish_reason }],
  });
  const sent = redacted('chat', [chunk('the sec', null), chunk('ret is a sec', null), chunk('', 'stop')]);
  expect(received('chat', sent).text).toBe('the word is a sec');
  const choices = [...sent.matchAll(/data: (.*)/g)].flatMap(([, data = '']) => JSON.parse(data).choices);
  expect(choices.map(({ text = '' }) => text).join('')).toBe('the word is a sec');
});

it('a window reads the reason for a refusal in each format', () => {
  const stop_details = { type: 'refusal', explanation: 'a secret' };
  const chat = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], stop_details };
  expect(redacted('chat', [chat])).toContain('"explanation":"a word"');
  expect(redacted('messages', [{ type: 'message_delta', delta: { stop_details } }])).toContain('"explanation":"a word"');
  const response = { type: 'response.completed', response: { output: [], stop_details } };
  expect(redacted('responses', [response])).toContain('"explanation":"a word"');
});

function replaceWhole(rule: string, text: string): string {
  const [, pattern = '', flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(rule) ?? [];
  const output = tasks.run('match-pattern', { pattern, flags, texts: [text], replacement: 'cc' }) as {
    replaced: string[] | null;
  };
  return output.replaced?.[0] ?? text;
}
