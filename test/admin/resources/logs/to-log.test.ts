import * as v from 'valibot';
import { expect, it } from 'vitest';
import { logListReply } from '../../../../admin/resources/logs/reply-schema.ts';
import { toLog } from '../../../../admin/resources/logs/to-log.ts';
import type { EarlierRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';

it('metrics of a log name the SDK of the client', () => {
  const metricsOf = (record: EarlierRecord) => {
    const row = { id: record.id, record, createdAt: new Date(record.createdAt), costNanoRest: 0 } as Parameters<typeof toLog>[0];
    const names = { organisationName: null, workspaceSlug: null };
    return toLog(row, names, { headerPrefix: 'x-svc-', host: '127.0.0.1', port: 8787 }, true).metrics;
  };
  const sdk = { runtime: 'node', runtimeVersion: 'v22.19.0', version: 'sdk-1.2.3' };
  expect(metricsOf(sampleRecord({ sdk }))).toMatchObject({
    runtime: 'node',
    runtime_version: 'v22.19.0',
    sdk_version: 'sdk-1.2.3',
  });
  expect(metricsOf(sampleRecord({}))).toMatchObject({ runtime: null, runtime_version: null, sdk_version: null });
});

it('a log lists responses that no client received, with their own models', () => {
  const usage = { inputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0, outputTokens: 7, reasoningTokens: 0, media: null };
  const call = { provider: 'openai', providerSlug: 'prod', model: 'gpt-4', ...usage, rawUsage: null };
  const listed = discardedOf(sampleRecord({ discarded: [call] }));
  expect(listed).toEqual([{ ai_org: 'openai', virtual_key: 'prod', ai_model: 'gpt-4', req_units: 5, res_units: 7 }]);
  expect(discardedOf(sampleRecord({}))).toEqual([]);
});

function discardedOf(record: EarlierRecord) {
  const row = { id: record.id, record, createdAt: new Date(record.createdAt), costNanoRest: 0 } as Parameters<typeof toLog>[0];
  const names = { organisationName: null, workspaceSlug: null };
  return toLog(row, names, { headerPrefix: 'x-svc-', host: '127.0.0.1', port: 8787 }, true).discarded;
}

it('records of earlier versions become logs that fit the reply schema', () => {
  const mcp = {
    ...{ serverId: '1', server: 'sample', integrationId: null, transport: 'http', method: 'tools/call', name: 'add' },
    ...{ revision: null, callerAuth: 'api_key' as const, upstreamAuth: 'none', errorCode: null, isToolError: false },
  };
  const record: EarlierRecord = { ...sampleRecord({}), mcp };
  const row = { id: record.id, record, createdAt: new Date(record.createdAt), costNanoRest: 0 } as Parameters<typeof toLog>[0];
  const names = { organisationName: null, workspaceSlug: null };
  const log = toLog(row, names, { headerPrefix: 'x-svc-', host: '127.0.0.1', port: 8787 }, true);
  const reply = { object: 'list', total: null, has_more: false, next_cursor: null, data: [log] };
  const sent: unknown = JSON.parse(JSON.stringify(reply));
  expect(v.safeParse(logListReply, sent).issues?.map((issue) => v.getDotPath(issue))).toBeUndefined();
});
