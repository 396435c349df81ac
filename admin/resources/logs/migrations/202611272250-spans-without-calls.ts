import { DayTableIndex } from '../../../db/day-table-index.ts';

/**
 * Spans of clients are found by their trace, and few are left that have usage. A GIN index of their ids cost a second for each batch of calls:
 * PostgreSQL compares each id with each new entry until it has moved the entries into the tree.
 */
export class SpansWithoutCalls extends DayTableIndex {
  protected readonly table = 'request_records';
  protected readonly suffix = 'of_spans';
  protected readonly definition = `(trace_id) where record->'clientSpan' is not null and record->'clientSpan'->>'callId' is null`;

  override async up(): Promise<void> {
    await super.up();
    // Builds between this migration and the one before it had the GIN index.
    this.addSql('drop index if exists request_records_by_client_span');
  }
}
