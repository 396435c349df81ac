import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { PromptTestResult } from './entity.ts';

type RowName = Pick<PromptTestResult, 'runId' | 'rowNumber'>;

/** Trace id of the calls of a row. */
export function traceOf({ runId, rowNumber }: RowName): string {
  return `prompt-test-${runId}-${rowNumber}`;
}

/** Returns the row that a trace id names; null for all other traces. */
export function rowOfTrace(traceId: string): RowName | null {
  const [, runId = '', number = ''] = /^prompt-test-([0-9a-f-]{36})-(\d{1,6})$/.exec(traceId) ?? [];
  return isUuid(runId) ? { runId, rowNumber: Number(number) } : null;
}
