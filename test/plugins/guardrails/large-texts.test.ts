import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardrailRule } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { compileGuardrails } from '../../../plugins/guardrails/compile.ts';
import { readPassedReply } from '../../../plugins/guardrails/passed-reply.ts';
import { runGuardrails } from '../../../plugins/guardrails/run.ts';
import { textParts } from '../../../plugins/guardrails/texts.ts';
import { createGatewayTasks, type GatewayTasks } from '../../../workers/gateway-tasks.ts';

const pool = createGatewayTasks({ threads: 1, queueMax: 100, taskMs: 20_000, memoryMegabytes: 256, log: { warn: () => {} } });
afterAll(() => pool.close());

/** Searches of single words are native: 1 MB takes less than 1 ms. */
const oneWord = { words: ['absent'], operator: 'none' };
const manyWords = { words: ['absent', 'missing'], operator: 'none' };

/** Runs a check on a text, and returns its verdict and how its tasks ran. */
async function run(id: string, parameters: JsonObject, text: string, { tasks = pool, deny = true } = {}) {
  const services = { tasks, random: () => 0, fetch: () => Promise.reject(new Error('not called')) };
  const rule: GuardrailRule = {
    ...{ path: '', id: 'g', type: 'guardrail', saved: null, deny, softDeny: false, async: false, sequential: false },
    ...{ stream: null, message: null, onSuccess: null, onFail: null, checks: [{ path: 'c', id, parameters, secrets: null }] },
  };
  const errors: string[] = [];
  const guardrails = compileGuardrails([rule], 'output', services, errors);
  expect(errors).toEqual([]);
  const ctx = { endpoint: { operation: 'chatComplete', name: 'chatComplete' }, request: {}, metadata: {}, model: 'm' };
  const body = { choices: [{ index: 0, message: { role: 'assistant', content: text } }] };
  const before = countsOf();
  const { results } = await runGuardrails(guardrails, ctx as never, body, { now: () => 0, elapsed: () => 0 });
  const after = countsOf();
  return {
    verdict: results[0]?.verdict,
    error: results[0]?.checks[0]?.error,
    inline: after.inline - before.inline,
    inThread: after.inThread - before.inThread,
  };
}

function countsOf() {
  const all = [...pool.counts.values()];
  const sum = (key: 'inline' | 'completed') => all.reduce((total, counts) => total + counts[key], 0);
  return { inline: sum('inline'), inThread: sum('completed') };
}

const megabyte = (unit: string) => unit.repeat(Math.ceil(1_000_000 / unit.length));

describe('a text of 1 MB', () => {
  it.each<[string, JsonObject, string, boolean]>([
    ['default.sentenceCount', { maxSentences: 9_999_999 }, megabyte('a. '), true],
    ['default.wordCount', { maxWords: 9_999_999 }, megabyte('a b\u2003'), true],
    ['default.alluppercase', {}, megabyte('A'), true],
    ['default.alllowercase', {}, megabyte('a'), true],
    ['default.containsCode', { format: 'SQL' }, megabyte('```sql\na\n```\n'), true],
    ['default.jsonKeys', { keys: ['a'] }, `{"a":"${megabyte('{')}"}`, true],
    ['default.jsonSchema', { schema: { type: 'object' } }, `{"a":"${megabyte('b')}"}`, true],
    ['default.contains', manyWords, megabyte('some words '), true],
    ['default.regexMatch', { rule: 'absent', not: true }, megabyte('some words '), true],
    ['svc.pii', {}, megabyte('some words '), true],
    ['svc.gibberish', {}, megabyte('some common words of a text '), true],
    ['svc.promptInjection', {}, megabyte('some words '), true],
  ])('is read in a worker thread by %s', async (id, parameters, text, verdict) => {
    const seen = await run(id, parameters, text);
    expect({ ...seen, inThread: seen.inThread > 0 }).toMatchObject({ error: undefined, inline: 0, inThread: true });
    if (id !== 'svc.gibberish') expect(seen.verdict).toBe(verdict);
  });

  it('is searched for one word on the main thread', async () => {
    expect(await run('default.contains', oneWord, 'x'.repeat(1_000_000))).toMatchObject({
      verdict: true,
      inline: 1,
      inThread: 0,
    });
  });

  it('reads less than 64 KB on the main thread', async () => {
    const seen = await run('default.wordCount', { maxWords: 9_999_999 }, 'ab '.repeat(20_000));
    expect(seen).toMatchObject({ verdict: true, inline: 1, inThread: 0 });
  });
});

describe('a text of 1 MB that no worker thread reads in time', () => {
  // The thread of an earlier test may still load its task, and would be busy.
  let tasks: GatewayTasks;
  beforeEach(() => {
    tasks = createGatewayTasks({ threads: 1, queueMax: 100, taskMs: 1, memoryMegabytes: 256, log: { warn: () => {} } });
  });
  afterEach(() => tasks.close());

  it.each([
    ['fails a check of a guardrail that denies', true, {}, false],
    ['passes a check of another guardrail', false, {}, true],
    ['fails a check with failOnError', false, { failOnError: true }, false],
    ['passes a check with failOnError false', true, { failOnError: false }, true],
  ])('%s', async (_name, deny, policy, verdict) => {
    const seen = await run('default.contains', { ...manyWords, ...policy }, megabyte('some words '), { tasks, deny });
    expect(seen).toMatchObject({ verdict, error: { message: 'Error executing check' } });
  });
});

it('a pass-through stream of 40,000 events with ids is read within the time of one test', async () => {
  const events = Array.from({ length: 40_000 }, (_, i) => `id: ${i}\nevent: message\ndata: {"t":"x"}\n\n`).join('');
  const read = await readPassedReply(['content-type', 'text/event-stream'], Buffer.from(events));
  expect(read?.texts).toEqual(['x'.repeat(40_000)]);
});

it.each([
  ['a stream', 'text/event-stream', ':\n\n'],
  ['lines of text', 'text/plain', 'a\r'],
])('%s of pass-through with more than a million line ends cannot be read', async (_name, type, unit) => {
  expect(await readPassedReply(['content-type', type], Buffer.from(unit.repeat(1_000_001)))).toBeNull();
  expect(await readPassedReply(['content-type', type], Buffer.from(unit.repeat(1_000)))).not.toBeNull();
});

it('400,000 spellings of a field of another format are read within the time of one test', () => {
  const letters = [...'colorguidedgenerationparams'];
  const spelling = (i: number) => letters.map((letter, at) => ((i >> at) & 1 ? letter.toUpperCase() : letter)).join('');
  const body = Object.fromEntries(Array.from({ length: 400_000 }, (_, i) => [spelling(i), 'a text']));
  expect(textParts('chatComplete', 'input', body, 'last_message')).toHaveLength(400_000 - 1);
});
