import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { GuardrailRecord } from '../../../core/contract/plugin/guardrails/guardrail-result.ts';
import { type RequestRecord, requestRecord } from '../../../core/contract/plugin/record/record.ts';
import { RecordEncoder } from '../../../core/journal/encode-record.ts';
import { LineBuffer } from '../../../core/journal/line-buffer.ts';
import { randomFrom } from '../../support/samples/random-from.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const encoder = new RecordEncoder();

function recordLine(record: RequestRecord): unknown {
  const lines = new LineBuffer(16);
  encoder.add(lines, record);
  const text = lines.bytes.toString('utf8');
  if (text.indexOf('\n') !== text.length - 1) throw new Error(`not one line: ${text}`);
  return JSON.parse(text);
}

/** Returns the records whose line differs from what `JSON.stringify` writes. */
function wrongLines(records: Iterable<RequestRecord>): RequestRecord[] {
  return [...records].filter((record) => !isDeepStrictEqual(recordLine(record), asJson(record)));
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A record in which every field of the schema has a value. */
const full: Required<Omit<RequestRecord, 'unpriced'>> = {
  ...(sampleRecord() as Required<RequestRecord>),
  spanId: '0123456789abcdef',
  parentSpanId: 'fedcba9876543210',
  spanName: 'POST "chat"\n',
  userId: randomUUID(),
  tokenSubject: 'subject é "quoted" \u2028',
  errorCode: 'upstream_status',
  errorMessage: 'line\nbreak, \u0000 and 漢字',
  promptId: randomUUID(),
  promptSlug: 'greeting',
  promptVersionId: randomUUID(),
  promptVersion: 12_345_678,
  promptLabel: 'staging',
  strategy: 'fallback',
  attempts: [
    { ...attempt('config.targets[0]', 503), errorCode: 'upstream_status', startMs: 0, durationMs: 0.07 },
    { ...attempt('config.targets[1]', 200), startMs: 1.1, durationMs: 3_000_000.25 },
  ],
  decisions: [{ targetPath: 'config.targets[2]', decision: 'circuit_open' }],
  verdicts: [],
  guardrails: [],
  guardrailsOmitted: 7,
  plugins: [],
  cacheStatus: 'MISS',
  source: 'custom',
  clientSpan: { spanIds: ['0123456789abcdef'], callId: randomUUID() },
  sdk: { runtime: 'node', runtimeVersion: 'v22.19.0', version: null },
  purpose: 'guardrail',
  media: { audioInputTokens: 1, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: { pages: 2 } },
  image: { quality: 'hd', size: null },
  serviceTier: 'flex',
  saved: savedCall('gpt-5 "quoted" é', 12),
  discarded: [],
  times: { parse: 0.001, limits: 0.02, cache: 0.3, replyParse: 4, upstream: 5.5, own: 1e-7 },
  reservations: [{ key: 'budget:b', lease: randomUUID(), startMs: 7, units: 40 }],
  mcp: {} as NonNullable<RequestRecord['mcp']>,
  agent: {} as NonNullable<RequestRecord['agent']>,
  batch: { id: 'batch', part: 'line', requests: 1, settings: { region: 'eu' } },
  session: { messagesFromClient: 1, messagesFromProvider: 2, closeCode: null, closedBy: null },
  checkpoint: 3,
  path: '/v1/files/"\\\u00e9',
  metadata: { ключ: 'значение "x"', team: 'a' },
} as Required<Omit<RequestRecord, 'unpriced'>>;

function attempt(targetPath: string, status: number): RequestRecord['attempts'][number] {
  const times = { durationMs: 1, upstreamFirstByteMs: 0.999, upstreamLastByteMs: null };
  return { targetPath, provider: 'openai', providerSlug: 'prod', status, errorCode: null, model: 'gpt-5', ...times };
}

function savedCall(model: string, outputTokens: number): NonNullable<RequestRecord['saved']> {
  const tokens = { inputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens, reasoningTokens: 0 };
  return { provider: 'openai', providerSlug: null, model, ...tokens, serviceTier: 'flex', media: null };
}

describe('lines of records', () => {
  it('have every field of the schema', () => {
    // The control plane adds the last one.
    expect([...Object.keys(full), 'unpriced'].sort()).toEqual(Object.keys(requestRecord.entries).sort());
    expect(recordLine(full)).toEqual(asJson(full));
  });

  it('equal JSON.stringify for records with any fields absent or null', () => {
    const random = randomFrom(20_261_126);
    const records: RequestRecord[] = [];
    for (let round = 0; round < 2_000; round++) {
      const record: Record<string, unknown> = { ...full };
      for (const [name, schema] of Object.entries(requestRecord.entries)) {
        if (schema.type === 'optional' && random() < 0.4) delete record[name];
        else if (schema.type === 'nullable' && random() < 0.4) record[name] = null;
      }
      if (random() < 0.3) record.attempts = [];
      if (random() < 0.3) record.metadata = {};
      if (random() < 0.3) record.times = { own: Math.round(random() * 1e6) / 1000 };
      records.push(record as unknown as RequestRecord);
    }
    expect(wrongLines(records)).toEqual([]);
  });

  it('keep an optional field, and one that is null in most records, if no other has a value', () => {
    const least: Record<string, unknown> = { ...full };
    const may = Object.entries(requestRecord.entries).filter(([, { type }]) => type === 'optional' || type === 'nullable');
    for (const [name, { type }] of may) {
      if (type === 'nullable') least[name] = null;
      else delete least[name];
    }
    least.media = null;
    const records = may.map(([name]) => ({ ...least, [name]: full[name as keyof typeof full] ?? {} }));
    expect(wrongLines(records as unknown as RequestRecord[])).toEqual([]);
  });

  it('equal JSON.stringify when callers, models and statuses alternate', () => {
    const records = Array.from({ length: 3_000 }, (_, i) =>
      sampleRecord({
        apiKeyId: `key-${i % 1_500}`,
        model: `model-${i % 7}`,
        status: 200 + (i % 11),
        userId: i % 2 === 0 ? null : 'user',
        stream: i % 3 === 0,
        attempts: [attempt(`config.targets[${i % 13}]`, 200 + (i % 5))],
      }),
    );
    expect(wrongLines(records)).toEqual([]);
  });

  it('equal JSON.stringify for hits of several cached replies in turn, also for long ones', () => {
    const calls = ['gpt-5', 'claude', 'x'.repeat(5000)].map((model, n) => savedCall(model, n));
    const hits = Array.from({ length: 30 }, (_, n) => ({ ...full, saved: calls[n % calls.length] as (typeof calls)[number] }));
    expect(wrongLines(hits)).toEqual([]);
  });

  it('equal JSON.stringify for the results of any guardrails', () => {
    const random = randomFrom(11);
    const one = <T>(...list: T[]): T => list[Math.floor(random() * list.length)] as T;
    const ms = () => Math.round(random() * 10_000) / 100;
    const result = (): GuardrailRecord => ({
      id: one('no-secrets', 'id "quoted" é', 'input_guardrail_x1'),
      side: one('start', 'input', 'output'),
      type: one('guardrail', 'mutator'),
      targetPath: one(null, 'config.targets[0]', 'config.targets[1]'),
      verdict: one(true, false),
      deny: one(true, false),
      async: one(true, false),
      transformed: one(true, false),
      durationMs: ms(),
      checks: Array.from({ length: one(0, 1, 2, 5) }, () => ({
        id: one('default.contains', 'default.regexMatch', 'other."x"\n'),
        verdict: one(true, false),
        error: one(null, 'Error', 'Check error'),
        failedOpen: one(true, false),
        durationMs: ms(),
      })),
      feedback: one<GuardrailRecord['feedback']>(
        ...([null, { value: 1, weight: 0.5 }, { value: -5, weight: 1 }, { value: 0, weight: 0 }] as const),
        ...([
          { value: 0, weight: 0, metadata: { team: 'a' } },
          { value: 0, weight: 0, metadata: { team: 'b' } },
        ] as const),
      ),
    });
    const records = Array.from({ length: 500 }, () =>
      sampleRecord({ guardrails: Array.from({ length: one(0, 1, 3, 200) }, result) }),
    );
    expect(wrongLines(records)).toEqual([]);
  });

  it('equal JSON.stringify for numbers of every size', () => {
    const random = randomFrom(7);
    const numbers = [
      0, 0.001, 0.01, 0.1, 0.999, 1, 9, 10, 99.99, 100.5, 999.999, 1_000, 1e6, 2_147_483.647, 2_147_483.648, 1e11, 1e21,
    ];
    for (let i = 0; i < 5_000; i++) {
      numbers.push(Math.round(random() * 10 ** (1 + 9 * random())) / 1_000, Math.round(random() * 1e7) / 100, random() * 1e4);
    }
    numbers.push(-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY);
    const records = numbers.map((durationMs) => sampleRecord({ durationMs, requestBytes: Math.trunc(durationMs) }));
    expect(wrongLines(records)).toEqual([]);
  });
});
