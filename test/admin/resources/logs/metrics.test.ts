import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('metrics of a log', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  /** Stores a record of the workspace and reads it as a log. */
  async function logOf(changes: Partial<RequestRecord>) {
    const record = sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId, ...changes });
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    const { status, body } = await plane.ask('GET', `/logs/${record.id}`);
    expect(status).toBe(200);
    return { record, body };
  }

  const attempt = (durationMs: number, more: object = {}) => ({
    targetPath: 'config.targets[0]',
    provider: 'openai',
    providerSlug: 'openai-prod',
    status: 200,
    errorCode: null,
    durationMs,
    ...more,
  });

  it('times: all attempts together, and the rest of the response time', async () => {
    const attempts = [attempt(10.4, { status: 503 }), attempt(20.4, { targetPath: 'config.targets[1]' })];
    const { body } = await logOf({ durationMs: 40.2, attempts });
    expect(body.response.responseTime).toBe(40);
    expect(body.metrics).toMatchObject({ response_time: 40, upstream_response_time: 31, gateway_processing_time: 9, ttlt: null });
    expect(body.attempts).toEqual([
      { ...attempts[0], reason: 'first' },
      { ...attempts[1], reason: 'fallback' },
    ]);
    expect([body.timings, body.strategy, body.metrics.request_parsing_time]).toEqual([null, null, null]);
  });

  it('times: measured ones are shown apart, with fractions', async () => {
    const measured = { startMs: 5, model: 'gpt-4o', upstreamFirstByteMs: 8.5, upstreamLastByteMs: 9.25 };
    const times = { parse: 1.6, limits: 0.25, cache: 2.5, upstream: 19.5, own: 4.125 };
    const plugins = [{ plugin: 'p', hook: 'onRequest' as const, calls: 1, durationMs: 0.5 }];
    const attempts = [attempt(9, measured), attempt(11, { startMs: 20 })];
    const { body } = await logOf({ durationMs: 40.2, attempts, times, plugins, strategy: 'fallback' });
    expect(body.timings).toEqual({
      ...{ request_parsing: 1.6, limits: 0.25, cache: 2.5, plugins: 0.5, guardrails: 0 },
      ...{ upstream: 19.5, response_parsing: 0, gateway: 4.125 },
    });
    expect(body.metrics).toMatchObject({
      ...{ request_parsing_time: 2, pre_processing_time: 1, cache_processing_time: 3, response_parsing_time: 0 },
      ...{ upstream_response_time: 20, gateway_processing_time: 4 },
    });
    expect(body.attempts).toMatchObject([{ ...measured, reason: 'first' }, { reason: 'retry' }]);
    expect(body.strategy).toBe('fallback');
  });

  it('times: the gateway’s share is never below 0', async () => {
    const { body } = await logOf({ durationMs: 5, attempts: [attempt(9)] });
    expect(body.metrics).toMatchObject({ response_time: 5, upstream_response_time: 9, gateway_processing_time: 0 });
  });

  it('streams have the time of their last token', async () => {
    const { body } = await logOf({ stream: true, durationMs: 812.7 });
    expect(body.metrics).toMatchObject({ stream_mode: 1, ttlt: 813 });
  });

  it('ids, model, routing and tokens', async () => {
    const { record, body } = await logOf({
      targetPath: 'config.targets[2].targets[1]',
      retryAttemptCount: 3,
      cacheReadTokens: 30,
      cacheWriteTokens: 5,
      spanId: 'span-1',
      spanName: 'step',
      parentSpanId: 'span-0',
      userId: 'user-1',
      cacheStatus: 'MISS',
    });
    expect(body.metrics).toMatchObject({
      id: record.id,
      internal_trace_id: record.id,
      trace_id: record.traceId,
      span_id: 'span-1',
      span_name: 'step',
      parent_span_id: 'span-0',
      organisation_id: plane.organisationId,
      organisation_name: expect.any(String),
      workspace_slug: expect.any(String),
      api_key_id: 'key-1',
      user_id: 'user-1',
      ai_org: 'openai',
      ai_model: 'gpt-4o-mini',
      virtual_key: 'openai-prod',
      config: 'main',
      config_version_id: 'version-1',
      mode: 'chatComplete',
      is_proxy_call: false,
      cache_status: 'MISS',
      last_used_option_index: 1,
      retry_success_count: 3,
      req_units: 155,
      res_units: 45,
      total_units: 200,
      usage_source: 'provider',
      'metadata.key': ['team'],
      'metadata.value': ['a'],
    });
  });

  it('cost: in cents of the public price; null if the model has none', async () => {
    // 120 input tokens at $0.15 and 45 output tokens at $0.60 per million.
    const priced = (await logOf({})).body.metrics;
    expect(priced).toMatchObject({ cost: 0.0045, cost_unit: 'cent', cost_currency: 'USD', price_source: 'public' });
    const unpriced = (await logOf({ model: 'nobody-knows-it' })).body.metrics;
    expect(unpriced).toMatchObject({ cost: null, price_source: 'unknown' });
  });

  it('usage: an estimate is named, and requests without usage name no source', async () => {
    expect((await logOf({ usageEstimated: true })).body.metrics.usage_source).toBe('estimate');
    const nothing = { inputTokens: 0, outputTokens: 0, rawUsage: null };
    expect((await logOf(nothing)).body.metrics).toMatchObject({ usage_source: null, total_units: 0 });
  });

  it('failures: outcome, error and no success', async () => {
    const { body } = await logOf({
      outcome: 'refused',
      status: 429,
      errorCode: 'key_rate_limit',
      errorMessage: 'too many',
      endpoint: 'proxy',
    });
    expect(body).toMatchObject({
      outcome: 'refused',
      error: { code: 'key_rate_limit', message: 'too many' },
      metrics: { is_success: false, response_status_code: 429, is_proxy_call: true },
    });
  });

  it('bodies and headers are not stored', async () => {
    const { body } = await logOf({});
    expect(body.request).toMatchObject({ method: 'POST', headers: {}, body: null });
    expect(body.response).toMatchObject({ status: 200, headers: {}, body: null });
  });
});
