import * as v from 'valibot';
import { expect, test } from 'vitest';
import { compileCheck } from '../../../admin/gateway-api/compile-check.ts';
import { type RequestRecord, requestRecord } from '../../../core/contract/plugin/record/record.ts';
import { randomFrom } from '../../support/samples/random-from.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const check = compileCheck(requestRecord);
const id = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b';
/** A record with every optional part. */
const whole = sampleRecord({
  ...{
    tokenSubject: 'a',
    promptId: id,
    promptSlug: 'p',
    promptVersionId: id,
    promptVersion: 1,
    promptLabel: 'production',
    strategy: 'fallback',
  },
  decisions: [{ targetPath: 'config', decision: 'circuit_open' }],
  verdicts: [{ plugin: 'p', targetPath: 'c', attempt: 0, action: 'deny', status: 446, reason: null, durationMs: 1 }] as never,
  guardrails: [
    {
      ...{
        id: 'g',
        side: 'input',
        type: 'guardrail',
        targetPath: null,
        verdict: true,
        deny: false,
        async: false,
        transformed: false,
        durationMs: 1,
      },
      ...{
        checks: [{ id: 'c', verdict: true, error: null, failedOpen: false, durationMs: 1 }],
        feedback: { value: 1, weight: 1 },
      },
    },
  ] as never,
  plugins: [{ plugin: 'p', hook: 'onRequest', calls: 1, durationMs: 2 }] as never,
  ...{ source: 'custom', serviceTier: 'flex', image: { quality: null, size: '1x1' }, times: { parse: 1, own: 2 }, checkpoint: 3 },
  media: { audioInputTokens: 1, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: { pages: 2 } },
  reservations: [{ key: 'k', lease: id, startMs: 0, units: 1 }],
  mcp: {
    ...{
      serverId: 's',
      server: 's',
      integrationId: null,
      transport: 'http',
      method: null,
      name: null,
      revision: null,
      callerAuth: 'jwt',
    },
    ...{ upstreamAuth: 'none', isCredentialRenewed: false, errorCode: null, isToolError: false, via: null },
  } as never,
  batch: { id: 'b', part: 'made', requests: 1, settings: { region: 'eu' } },
  session: { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: 'client' },
});

const values: readonly unknown[] = [
  ...[null, true, 0, 1, -1, 0.5, 2 ** 53, 1e300, Number.POSITIVE_INFINITY, '', 'text', 'x'.repeat(256), 'x'.repeat(3_000), id],
  ...['success', [], {}, [{}], [1], { a: 'b' }, { a: 1 }, { constructor: 'b' }, { a: { b: null } }, 'custom', 'made', 'client'],
];

/** Changes one random place of a record: replaces its value, removes it, or adds an entry. */
function change(value: unknown, random: () => number): unknown {
  const pick = <Item>(list: readonly Item[]) => list[Math.floor(random() * list.length)] as Item;
  if (typeof value !== 'object' || value === null || random() < 0.05) return pick(values);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * (value.length + 1));
    return value.toSpliced(at, 1, at < value.length ? change(value[at], random) : pick(values));
  }
  const name = random() < 0.05 ? pick(['added', '__proto__x', 'prototype']) : pick(Object.keys(value));
  const { [name as never]: old, ...others } = value;
  return random() < 0.2 ? others : { ...others, [name ?? 'added']: change(old, random) };
}

/** True if every entry of `output` is the same in `input`, which may have more. */
function isPartOf(output: unknown, input: unknown): boolean {
  if (typeof output !== 'object' || output === null) return Object.is(output, input);
  if (typeof input !== 'object' || input === null || Array.isArray(output) !== Array.isArray(input)) return false;
  return Object.entries(output).every(([name, value]) => isPartOf(value, (input as Record<string, unknown>)[name]));
}

test('records: the compiled check accepts what the schema accepts, and nothing that it refuses or changes', () => {
  expect(check(whole)).toBe(true);
  expect(check(sampleRecord())).toBe(true);
  const random = randomFrom(7);
  const seen = { accepted: 0, refused: 0, changed: 0 };
  for (let round = 0; round < 4_000; round++) {
    let record: unknown = JSON.parse(JSON.stringify(round % 2 === 0 ? whole : sampleRecord()));
    if (round % 100 === 0) delete ((record as RequestRecord).mcp as { via?: unknown }).via;
    for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--) record = change(record, random);
    const result = v.safeParse(requestRecord, record, { abortEarly: true });
    const isUnchanged = result.success && isPartOf(result.output, record);
    seen[!result.success ? 'refused' : isUnchanged ? 'accepted' : 'changed']++;
    if (check(record) && !isUnchanged) expect.fail(`accepted ${JSON.stringify(record)}`);
    // Names that valibot removes are left to it.
    if (isUnchanged && !check(record) && !/"(constructor|prototype|__proto__)"/.test(JSON.stringify(record)))
      expect.fail(`refused ${JSON.stringify(record)}`);
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(3);
});

test('compiled checks: an absent value with a default is left to the schema', () => {
  const { via: _, ...mcp } = whole.mcp as NonNullable<RequestRecord['mcp']>;
  expect(check({ ...whole, mcp })).toBe(false);
  expect(v.parse(requestRecord, { ...whole, mcp }).mcp?.via).toBeNull();
});

test('compiled checks: kinds of schemas without a translation are refused when they are compiled', () => {
  expect(() => compileCheck(v.object({ at: v.date() }))).toThrow('a schema of the type date cannot be compiled');
  expect(() => compileCheck(v.pipe(v.string(), v.email()))).toThrow('the action email of a schema cannot be compiled');
});
