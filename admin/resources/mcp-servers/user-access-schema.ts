import * as v from 'valibot';
import { userAccessEntries, userAccessPage } from '../../access/server-users.ts';

export const userAccessReply = userAccessPage(
  v.strictObject({
    ...userAccessEntries,
    /** State of the user's own account at the server. */
    connection_status: v.picklist(['connected', 'not_connected']),
  }),
);
