import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestLog } from '../../../core/compose/request-log.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type LoneGateway, startLoneGateway } from '../../support/product/lone-gateway.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';

const rejected = sampleRecord({ outcome: 'refused', status: 401, errorCode: 'invalid_api_key', apiKeyId: null, provider: null });

function start(level: 'debug' | 'info' | 'warn') {
  const log = newMemoryLog();
  const time = newFakeTime();
  return { log, time, write: createRequestLog({ log, level, after: time.timers.after }) };
}

describe('request log', () => {
  it('writes rejected and failed requests at info and served ones at debug', () => {
    const { log, write } = start('debug');
    write?.(sampleRecord());
    write?.(rejected);
    write?.(sampleRecord({ outcome: 'failed', status: 502, errorCode: 'upstream_connect' }));
    expect(log.lines.map((line) => [line.level, line.fields.status, line.fields.code])).toEqual([
      ['debug', 200, null],
      ['info', 401, 'invalid_api_key'],
      ['info', 502, 'upstream_connect'],
    ]);
  });

  it('names route, provider, trace, key, workspace and duration, and nothing of what was sent', () => {
    const { log, write } = start('info');
    const record = sampleRecord({ outcome: 'failed', status: 500, errorMessage: 'said by a caller', metadata: { team: 'blue' } });
    write?.(record);
    expect(log.lines[0]?.fields).toEqual({
      status: 500,
      code: null,
      method: 'POST',
      route: 'chatComplete',
      path: '/v1/chat/completions',
      provider: 'openai-prod',
      attempts: record.attempts.length,
      durationMs: record.durationMs,
      requestId: record.id,
      traceId: record.traceId,
      keyId: 'key-1',
      workspaceId: 'workspace-1',
    });
  });

  it('is absent if LOG_LEVEL hides its lines', () => {
    expect(start('warn').write).toBeNull();
  });

  it('omits lines of callers without a key above ten per second, counts them, and goes on for callers with a key', () => {
    const { log, time, write } = start('info');
    for (let i = 0; i < 25; i++) write?.(rejected);
    write?.({ ...rejected, apiKeyId: 'key-1' });
    expect(log.lines).toHaveLength(11);
    time.advance(1000);
    expect(log.lines.at(-1)).toMatchObject({ level: 'info', fields: { omitted: 15 } });
    write?.(rejected);
    expect(log.lines).toHaveLength(13);
    time.advance(1000);
    expect(log.lines).toHaveLength(13);
  });
});

describe('the log of a gateway', () => {
  let gateway: LoneGateway;
  beforeAll(async () => {
    gateway = await startLoneGateway({ LOG_LEVEL: 'info' });
  });
  afterAll(() => gateway.close());

  const lines = () =>
    gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('has one line for a rejected request of the pipeline, and one for a request that the edge rejects', async () => {
    const headers = { 'x-svc-trace-id': 'trace-of-pipeline' };
    await gateway.call('/chat/completions', { headers, body: { model: 'planted-content', messages: [] } });
    await gateway.call('/chat/completions', {
      headers: { 'x-svc-api-key': 'wrong', 'x-svc-trace-id': 'trace-of-key' },
      body: {},
    });
    const found = await until(() => {
      const of = (traceId: string) => lines().filter((line) => line.traceId === traceId);
      return of('trace-of-key').length > 0 && [...of('trace-of-pipeline'), ...of('trace-of-key')];
    });
    expect(found).toMatchObject([
      { level: 'info', status: 400, route: 'chatComplete', msg: 'request rejected' },
      { level: 'info', status: 401, code: 'invalid_api_key', keyId: null },
    ]);
    expect(gateway.output()).not.toContain('planted-content');
  });
});
