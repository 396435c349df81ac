import { emptyRecord, type RequestRecord } from './record.ts';

/**
 * A call that is about to be sent: the fields of its record that are known by then, those that are null or empty left out. If the
 * process is killed during the call, the record with outcome `interrupted` is made of it.
 */
export type CallHold = Pick<RequestRecord, 'id' | 'createdAt'> & {
  readonly [Field in keyof RequestRecord]?: RequestRecord[Field];
};

/** Returns the record of a call that was in flight when its process was killed. The client received no reply from that process. */
export function interruptedRecord(hold: CallHold): RequestRecord {
  return { ...emptyRecord, ...interrupted, traceId: hold.id, ...hold };
}

const interrupted = {
  status: 503,
  outcome: 'interrupted',
  errorCode: 'unavailable',
  errorMessage: 'The gateway process was killed during the call',
  usageEstimated: true,
} as const;
