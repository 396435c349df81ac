import type { GuardrailRecord } from '../contract/plugin/guardrails/guardrail-result.ts';
import type { AttemptRecord, RequestRecord } from '../contract/plugin/record/record.ts';

type Caller = Pick<RequestRecord, 'organisationId' | 'workspaceId' | 'apiKeyId' | 'userId' | 'tokenSubject'>;

/** Members that all records of a caller share. */
export const callerPart = {
  pick: ({ organisationId, workspaceId, apiKeyId, userId, tokenSubject }: Caller): Caller => ({
    ...{ organisationId, workspaceId, apiKeyId, userId, tokenSubject },
  }),
  equals: (one: Caller, other: Caller): boolean =>
    one.organisationId === other.organisationId &&
    one.workspaceId === other.workspaceId &&
    one.apiKeyId === other.apiKeyId &&
    one.userId === other.userId &&
    one.tokenSubject === other.tokenSubject,
};

type Call = Pick<
  RequestRecord,
  | ('method' | 'endpoint' | 'status' | 'outcome' | 'errorCode' | 'provider' | 'providerSlug' | 'model' | 'stream')
  | ('configSlug' | 'configVersionId' | 'targetPath' | 'strategy' | 'cacheStatus' | 'usageEstimated')
>;

/** Members that most records of a route, config and model share. */
export const callPart = {
  pick: (from: Call): Call => ({
    method: from.method,
    endpoint: from.endpoint,
    status: from.status,
    outcome: from.outcome,
    errorCode: from.errorCode,
    provider: from.provider,
    providerSlug: from.providerSlug,
    model: from.model,
    stream: from.stream,
    configSlug: from.configSlug,
    configVersionId: from.configVersionId,
    targetPath: from.targetPath,
    strategy: from.strategy,
    cacheStatus: from.cacheStatus,
    usageEstimated: from.usageEstimated,
  }),
  equals: (one: Call, other: Call): boolean =>
    one.method === other.method &&
    one.endpoint === other.endpoint &&
    one.status === other.status &&
    one.outcome === other.outcome &&
    one.errorCode === other.errorCode &&
    one.provider === other.provider &&
    one.providerSlug === other.providerSlug &&
    one.model === other.model &&
    one.stream === other.stream &&
    one.configSlug === other.configSlug &&
    one.configVersionId === other.configVersionId &&
    one.targetPath === other.targetPath &&
    one.strategy === other.strategy &&
    one.cacheStatus === other.cacheStatus &&
    one.usageEstimated === other.usageEstimated,
};

type Attempt = Pick<AttemptRecord, 'targetPath' | 'provider' | 'providerSlug' | 'status' | 'errorCode' | 'model'>;

/** Members that most attempts at a target share. */
export const attemptPart = {
  pick: ({ targetPath, provider, providerSlug, status, errorCode, model }: Attempt): Attempt => ({
    ...{ targetPath, provider, providerSlug, status, errorCode, model },
  }),
  equals: (one: Attempt, other: Attempt): boolean =>
    one.targetPath === other.targetPath &&
    one.provider === other.provider &&
    one.providerSlug === other.providerSlug &&
    one.status === other.status &&
    one.errorCode === other.errorCode &&
    one.model === other.model,
};

type GuardrailPart = Omit<GuardrailRecord, 'durationMs' | 'checks'>;

/** Members that most results of a guardrail share. */
export const guardrailPart = {
  pick: ({ id, side, type, targetPath, verdict, deny, async, transformed, feedback }: GuardrailPart): GuardrailPart => ({
    ...{ id, side, type, targetPath, verdict, deny, async, transformed, feedback },
  }),
  equals: (one: GuardrailPart, other: GuardrailPart): boolean =>
    one.id === other.id &&
    one.side === other.side &&
    one.type === other.type &&
    one.targetPath === other.targetPath &&
    one.verdict === other.verdict &&
    one.deny === other.deny &&
    one.async === other.async &&
    one.transformed === other.transformed &&
    one.feedback?.value === other.feedback?.value &&
    one.feedback?.weight === other.feedback?.weight &&
    one.feedback?.metadata === other.feedback?.metadata,
};

type Check = Omit<GuardrailRecord['checks'][number], 'durationMs'>;

/** Members that most results of a check share. */
export const checkPart = {
  pick: ({ id, verdict, error, failedOpen }: Check): Check => ({ id, verdict, error, failedOpen }),
  equals: (one: Check, other: Check): boolean =>
    one.id === other.id && one.verdict === other.verdict && one.error === other.error && one.failedOpen === other.failedOpen,
};

/** Members that are null in most records. */
const nullNames = [
  'spanId',
  'parentSpanId',
  'spanName',
  'errorMessage',
  'media',
] as const satisfies readonly (keyof RequestRecord)[];
/** Members that most records do not have. */
const rareNames = [
  ...(['promptId', 'promptSlug', 'promptVersionId', 'promptVersion', 'promptLabel', 'decisions', 'verdicts'] as const),
  ...([
    'guardrailsOmitted',
    'plugins',
    'source',
    'clientSpan',
    'sdk',
    'purpose',
    'image',
    'serviceTier',
    'saved',
    'discarded',
    'reservations',
    'mcp',
    'agent',
  ] as const),
  ...(['batch', 'session', 'checkpoint'] as const),
] satisfies readonly (keyof RequestRecord)[];
const rareOrNullNames = [...nullNames, ...rareNames];
const onlyNulls = Buffer.from(nullNames.map((name) => `,"${name}":null`).join(''));

/** Returns the members that are null or absent in most records, each behind a comma. */
export function rareMembers(record: RequestRecord): Uint8Array {
  if (hasOnlyNulls(record) && hasNoRareMember(record)) return onlyNulls;
  let members = '';
  for (const name of rareOrNullNames) if (record[name] !== undefined) members += `,"${name}":${JSON.stringify(record[name])}`;
  return Buffer.from(members);
}

function hasOnlyNulls({ spanId, parentSpanId, spanName, errorMessage, media }: RequestRecord): boolean {
  return spanId === null && parentSpanId === null && spanName === null && errorMessage === null && media === null;
}

function hasNoRareMember(record: RequestRecord): boolean {
  return (
    record.promptId === undefined &&
    record.promptSlug === undefined &&
    record.promptVersionId === undefined &&
    record.promptVersion === undefined &&
    record.promptLabel === undefined &&
    record.decisions === undefined &&
    record.verdicts === undefined &&
    record.plugins === undefined &&
    record.guardrailsOmitted === undefined &&
    record.source === undefined &&
    record.clientSpan === undefined &&
    record.sdk === undefined &&
    record.purpose === undefined &&
    record.image === undefined &&
    record.serviceTier === undefined &&
    record.saved === undefined &&
    record.discarded === undefined &&
    record.reservations === undefined &&
    record.mcp === undefined &&
    record.agent === undefined &&
    record.batch === undefined &&
    record.session === undefined &&
    record.checkpoint === undefined
  );
}
