import { DayTableIndex } from '../../../db/day-table-index.ts';

/**
 * An index that finds the gateway's record of a span of a client. Its condition is that of the query in `join-client-spans.ts`; records without a
 * parent span are not in it.
 */
export class SpansOfClients extends DayTableIndex {
  protected readonly table = 'request_records';
  protected readonly suffix = 'by_parent';
  protected readonly definition = `(trace_id, (record->>'parentSpanId')) where record->>'parentSpanId' is not null`;
}
