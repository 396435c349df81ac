import type { RequestRecord } from './record.ts';

/**
 * A call that is about to be sent: the fields of its record that are known by then, those that are null or empty left out. If the
 * process is killed during the call, the record with outcome `interrupted` is made of it.
 */
export type CallHold = Pick<RequestRecord, 'id' | 'createdAt'> & {
  readonly [Field in keyof RequestRecord]?: RequestRecord[Field];
};

/** Returns the record of a call that was in flight when its process was killed. */
export function interruptedRecord(hold: CallHold): RequestRecord {
  return { ...unknown, traceId: hold.id, ...hold };
}

/** The client received no reply from the killed process. */
const unknown = {
  spanId: null,
  parentSpanId: null,
  spanName: null,
  organisationId: null,
  workspaceId: null,
  apiKeyId: null,
  userId: null,
  method: '',
  path: '',
  endpoint: null,
  status: 503,
  outcome: 'interrupted',
  errorCode: 'unavailable',
  errorMessage: 'The gateway process was killed during the call',
  provider: null,
  providerSlug: null,
  model: null,
  stream: false,
  configSlug: null,
  configVersionId: null,
  targetPath: null,
  attempts: [],
  retryAttemptCount: 0,
  cacheStatus: null,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usageEstimated: true,
  rawUsage: null,
  durationMs: 0,
  firstByteMs: null,
  requestBytes: 0,
  replyBytes: 0,
  clientAddress: '',
  metadata: {},
} satisfies Omit<RequestRecord, 'id' | 'traceId' | 'createdAt'>;
