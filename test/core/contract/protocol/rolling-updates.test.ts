import { describe, expect, it } from 'vitest';
import { requestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { circuitNotice } from '../../../../core/contract/plugin/services/circuits.ts';
import { connectionDiagnosis, connectionTest } from '../../../../core/contract/protocol/control-plane-calls/connection-test.ts';
import {
  tokenCheck,
  tokenCheckReply,
  tokenRefusals,
  tokenVerdict,
} from '../../../../core/contract/protocol/credentials/tokens.ts';
import * as documents from '../../../../core/contract/protocol/documents.ts';
import * as internalApi from '../../../../core/contract/protocol/internal-api.ts';
import { leasesBody, leasesReply, ratesReply, recallNotice } from '../../../../core/contract/protocol/limits/leases.ts';
import { changeNotice } from '../../../../core/contract/protocol/notices/change-notice.ts';

/** Messages between gateways and control planes, which may have different versions during an update. */
const messages: Record<string, unknown> = {
  ...documents,
  ...internalApi,
  changeNotice,
  connectionDiagnosis,
  connectionTest,
  healthNotice: circuitNotice,
  leasesBody,
  leasesReply,
  ratesReply,
  recallNotice,
  requestRecord,
  tokenCheck,
  tokenCheckReply,
  tokenRefusals,
  tokenVerdict,
};

describe('messages between gateways and control planes', () => {
  it.each(Object.keys(messages).filter((name) => isSchema(messages[name])))('%s accepts unknown members', (name) => {
    expect(strictIn(messages[name], name)).toEqual([]);
  });

  it('are searched at every level', () => {
    const strict = { kind: 'schema', type: 'strict_object', entries: {} };
    expect(strictIn({ kind: 'schema', type: 'object', entries: { a: { wrapped: { options: [strict] } } } }, 'message')).toEqual([
      'message.entries.a.wrapped.options.0',
    ]);
  });
});

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}

/** Paths of strict objects in a schema. */
function strictIn(value: unknown, path: string, seen = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if ('type' in value && value.type === 'strict_object') return [path];
  return Object.entries(value).flatMap(([name, inner]) => strictIn(inner, `${path}.${name}`, seen));
}
