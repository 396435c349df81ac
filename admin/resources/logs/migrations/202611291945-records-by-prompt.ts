import { DayTableIndex } from '../../../db/day-table-index.ts';

/** The list of prompts shows when each one was last used. Requests without a prompt are not in the index. */
export class RecordsByPrompt extends DayTableIndex {
  protected readonly table = 'request_records';
  protected readonly suffix = 'by_prompt';
  protected readonly definition = `(workspace_id, (record->>'promptSlug'), created_at) where record->>'promptSlug' is not null`;
}
