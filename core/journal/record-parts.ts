import type { GuardrailRecord } from '../contract/plugin/guardrails/guardrail-result.ts';
import { type AttemptRecord, type RequestRecord, type RequestTimes, requestRecord } from '../contract/plugin/record/record.ts';
import { compileAllAre, compileText, type MemberNames } from './compile-members.ts';

type Names = MemberNames<RequestRecord>;

/** Members that all records of a caller share. */
export const callerNames: Names = ['organisationId', 'workspaceId', 'apiKeyId', 'userId', 'tokenSubject'];

/** Members that most records of a route, config and model share. */
export const callNames: Names = [
  ...(['method', 'endpoint', 'status', 'outcome', 'errorCode', 'provider', 'providerSlug', 'model', 'stream'] as const),
  ...(['configSlug', 'configVersionId', 'targetPath', 'strategy', 'cacheStatus', 'usageEstimated'] as const),
];

/** Members that are numbers and differ from record to record. */
export const numberNames: Names = [
  ...(['retryAttemptCount', 'inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const),
  ...(['durationMs', 'firstByteMs', 'requestBytes', 'replyBytes'] as const),
];

/** Members that the encoder writes one by one. */
const ownNames: Names = [
  ...(['id', 'traceId', 'createdAt', 'path', 'rawUsage', 'clientAddress', 'metadata'] as const),
  ...(['times', 'saved', 'guardrails', 'attempts'] as const),
];

/** Members that are null in most records. */
const nullNames: Names = ['spanId', 'parentSpanId', 'spanName', 'errorMessage', 'media'];

const otherNames = new Set([...callerNames, ...callNames, ...numberNames, ...ownNames, ...nullNames]);
/** Members that most records do not have: all that no list above names. */
const rareNames = (Object.keys(requestRecord.entries) as (keyof RequestRecord)[]).filter((name) => !otherNames.has(name));

/** Members that most attempts at a target share. */
export const attemptNames: MemberNames<AttemptRecord> = [
  ...(['targetPath', 'provider', 'providerSlug', 'status', 'errorCode', 'model'] as const),
];
export const attemptNumberNames: MemberNames<AttemptRecord> = [
  ...(['startMs', 'durationMs', 'upstreamFirstByteMs', 'upstreamLastByteMs'] as const),
];

export const timeNames: MemberNames<RequestTimes> = ['parse', 'limits', 'cache', 'replyParse', 'upstream', 'own'];

/** Members that most results of a guardrail share. */
export const guardrailNames: MemberNames<GuardrailRecord> = [
  ...(['id', 'side', 'type', 'targetPath', 'verdict', 'deny', 'async', 'transformed', 'feedback'] as const),
];

/** Members that most results of a check share. */
export const checkNames: MemberNames<GuardrailRecord['checks'][number]> = ['id', 'verdict', 'error', 'failedOpen'];

const hasOnlyNulls = compileAllAre<RequestRecord>(null, nullNames);
const hasNoRareMember = compileAllAre<RequestRecord>(undefined, rareNames);
const rareText = compileText<RequestRecord>([...nullNames, ...rareNames]);

/** The result of `rareMembers` for most records. */
export const onlyNulls = nullNames.map((name) => `,"${name}":null`).join('');

/** Returns the members that are null or absent in most records, each behind a comma. */
export function rareMembers(record: RequestRecord): string {
  return hasOnlyNulls(record) && hasNoRareMember(record) ? onlyNulls : rareText(record);
}
