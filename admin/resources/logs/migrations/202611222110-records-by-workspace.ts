import { DayTableIndex } from '../../../db/day-table-index.ts';

/** An index for lists of logs: the records of a workspace, newest first. */
export class RecordsByWorkspace extends DayTableIndex {
  protected readonly table = 'request_records';
  protected readonly suffix = 'by_workspace';
  protected readonly definition = '(workspace_id, created_at desc, id desc)';
}
