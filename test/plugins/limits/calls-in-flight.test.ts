import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { interruptedRecord } from '../../../core/contract/plugin/record/call-hold.ts';
import { requestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { ApiKeyDocument } from '../../../core/contract/protocol/documents.ts';
import { chatReply, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { until } from '../../support/until.ts';
import { body, leasesOnLedger } from './limits-harness.ts';

function start(key: Partial<ApiKeyDocument> = {}, whenSafe?: (callback: () => void) => void) {
  const { leases } = leasesOnLedger();
  const harness = createHarness({ leases, key, ...(whenSafe ? { whenSafe } : {}) });
  const ask = (headers: Record<string, string> = {}, changes: object = {}) =>
    harness.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one', ...headers },
      body: { ...body, ...changes },
    });
  return { ...harness, ask };
}

const limited: Partial<ApiKeyDocument> = {
  rateLimits: [{ type: 'requests', unit: 'rpd', value: 5 }],
  usageLimits: {
    id: randomUUID(),
    type: 'tokens',
    creditLimit: 100,
    alertThreshold: null,
    periodicReset: null,
    periodicResetDays: null,
    nextUsageResetAt: null,
  },
};

describe('a call in flight', () => {
  it('has a note under the id of its record, with all reserved units', async () => {
    const { ask, holds, records } = start(limited);
    expect((await ask()).status).toBe(200);
    expect(holds.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
    // 5 tokens of the request and 10 of the reply.
    expect(holds[0]?.reservations).toMatchObject([
      { key: expect.stringContaining('budget:'), units: 15 },
      { key: expect.stringContaining('rate:'), units: 1 },
    ]);
    const interrupted = v.parse(requestRecord, interruptedRecord(JSON.parse(JSON.stringify(holds[0]))));
    const { apiKeyId, provider, model, workspaceId } = records[0] as never as Record<string, unknown>;
    expect(interrupted).toMatchObject({
      apiKeyId,
      provider,
      model,
      workspaceId,
      outcome: 'interrupted',
      inputTokens: 5,
      outputTokens: 10,
    });
  });

  it.each([
    ['what budgets reserve for a model that has not replied', 1_000_000, 16_384],
    ['the rest of its budget if less is left', 105, 100],
  ])('without a stated maximum has a note with %s', async (_output, creditLimit, outputTokens) => {
    const { usageLimits } = limited;
    const { ask, holds } = start({ usageLimits: { ...usageLimits, creditLimit } as typeof usageLimits });
    expect((await ask({}, { max_tokens: undefined })).status).toBe(200);
    expect(holds[0]).toMatchObject({ inputTokens: 5, outputTokens, reservations: [{ units: 5 + outputTokens }] });
  });

  it('under a limit is sent after its note is on disk, and without limits at once', async () => {
    const waiting: (() => void)[] = [];
    const { ask, calls, holds } = start(limited, (callback) => waiting.push(callback));
    const asked = ask();
    await until(() => waiting.length > 0);
    expect([holds.length, calls.length]).toEqual([1, 0]);
    waiting.shift()?.();
    await until(() => waiting.length > 0);
    expect(calls).toHaveLength(1);
    waiting.shift()?.();
    expect((await asked).status).toBe(200);

    const unlimited = start({}, () => expect.unreachable('nothing waits for the disk'));
    expect((await unlimited.ask()).status).toBe(200);
    expect([unlimited.holds.length, unlimited.calls.length]).toEqual([1, 1]);
  });

  it('without limits has its reply before its record is on disk; other requests have their records there first', async () => {
    const waiting: (() => void)[] = [];
    const { ask, records } = start({}, (callback) => waiting.push(callback));
    expect((await ask()).status).toBe(200);
    expect([records.length, waiting.length]).toEqual([1, 0]);
    const rejected = ask({ 'x-svc-api-key': 'no key' });
    await until(() => waiting.length > 0);
    expect(records.map(({ status }) => status)).toEqual([200, 401]);
    waiting.shift()?.();
    expect((await rejected).status).toBe(401);

    const safe: (() => void)[] = [];
    const counted = start(limited, (callback) => safe.push(callback));
    const asked = counted.ask();
    for (const known of [0, 1]) {
      await until(() => safe.length > 0);
      expect(counted.records).toHaveLength(known);
      safe.shift()?.();
    }
    expect((await asked).status).toBe(200);
  });

  it('has one note for the retries at a target, and a new one for the next target', async () => {
    const { ask, script, holds } = start(limited);
    script(replyWith(500, '{}'), replyWith(500, '{}'), replyWith(200, chatReply('hello')));
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one', retry: { attempts: 1, on_status_codes: [500] } }, { provider: '@two' }],
    };
    expect((await ask({ 'x-svc-config': JSON.stringify(config), 'x-svc-provider': '' })).status).toBe(200);
    expect(holds.map(({ providerSlug }) => providerSlug)).toEqual(['one', 'two']);
    expect(new Set(holds.map(({ id }) => id)).size).toBe(1);
  });

  it('has no note if the request is rejected', async () => {
    const { ask, holds } = start({ rateLimits: [{ type: 'requests', unit: 'rpd', value: 0 }] });
    expect((await ask()).status).toBe(429);
    expect(holds).toEqual([]);
  });
});

it('rate limits: records report their usage, so that units of a killed process can return', async () => {
  const { ask, records } = start({
    rateLimits: [
      { type: 'requests', unit: 'rpd', value: 5 },
      { type: 'tokens', unit: 'rph', value: 500 },
    ],
  });
  await ask();
  expect(records[0]?.reservations).toMatchObject([
    { key: expect.stringContaining(':requests:rpd'), lease: expect.any(String), units: 1 },
    { key: expect.stringContaining(':tokens:rph'), lease: expect.any(String), units: 5 },
  ]);
});
