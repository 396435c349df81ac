import { DayTableIndex } from '../../../db/day-table-index.ts';

/** An index to delete the old contents of one organisation. */
export class ContentsByOrganisation extends DayTableIndex {
  protected readonly table = 'record_contents';
  protected readonly suffix = 'by_organisation';
  protected readonly definition = '(organisation_id, created_at)';
}
