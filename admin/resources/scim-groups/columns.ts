import type { Columns } from '../../scim/filter-to-sql.ts';

/** Attributes of groups that filters can name, on `scim_groups g`. */
export const groupColumns: Columns = {
  id: { type: 'uuid', sql: 'g.id' },
  externalid: { type: 'exact-text', sql: 'g.external_id' },
  displayname: { type: 'text', sql: 'g.display_name' },
  members: {
    type: 'list',
    any: (condition) => `exists (select 1 from scim_group_members m where m.group_id = g.id and ${condition})`,
    members: { value: { type: 'uuid', sql: 'm.user_id' } },
  },
  'meta.created': { type: 'time', sql: 'g.created_at' },
  'meta.lastmodified': { type: 'time', sql: 'g.last_updated_at' },
};
