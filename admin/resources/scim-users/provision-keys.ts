import * as v from 'valibot';
import type { AuditDraft } from '../../audit/audit-entry.ts';
import { newId } from '../../db/new-id.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { addJob } from '../../jobs/add-job.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { type Change, writeChange } from '../../publish/write-change.ts';
import { provisionUserKey } from '../api-keys/user-keys.ts';
import { effectiveKeySettings } from '../organisations/key-settings.ts';
import type { Making } from '../workspace-users/memberships.ts';

export const provisionKeysKind = 'provision-user-keys';

/** Maximum number of users whose keys are created inside the request. A key takes several statements, and a request 2.8 s. */
const inRequestMax = 20;
/** Users of one job, which creates their keys in one transaction. */
const jobUsers = 100;

interface Joined {
  readonly user_id: string;
  readonly workspace_id: string;
}

const payloadOfJob = v.object({ workspaceId: v.string(), userIds: v.array(v.string()) });

/**
 * Creates the keys of users who joined workspaces, if the settings require one (`user_api_key_auto_create`). The keys of many users are
 * created by jobs after the commit.
 */
export async function provisionKeys(
  change: Change,
  organisationId: string,
  joined: readonly Joined[],
  { apiKeyPepper }: Making,
): Promise<void> {
  for (const workspaceId of new Set(joined.map((one) => one.workspace_id))) {
    const { autoCreate } = await effectiveKeySettings(change.tx, organisationId, workspaceId);
    if (!autoCreate) continue;
    const userIds = joined.filter((one) => one.workspace_id === workspaceId).map((one) => one.user_id);
    if (userIds.length <= inRequestMax) {
      for (const userId of userIds) await provisionUserKey(change, apiKeyPepper, { organisationId, workspaceId, userId });
      continue;
    }
    for (let from = 0; from < userIds.length; from += jobUsers) {
      const payload = { workspaceId, userIds: userIds.slice(from, from + jobUsers) };
      await addJob(change.tx, { kind: provisionKeysKind, key: newId(), organisationId, payload });
    }
  }
}

/** Creates the keys of a part of the users. A repeated run skips users with a key, and users who have left in the meantime. */
export function provisionKeysJob({
  database,
  auditKey,
  apiKeyPepper,
  wakeRelay,
}: Pick<AdminServices, 'database' | 'auditKey' | 'apiKeyPepper' | 'wakeRelay'>): JobHandler {
  return async ({ organisationId, payload, signal }) => {
    if (organisationId === null) return 'done';
    const { workspaceId, userIds } = v.parse(payloadOfJob, payload);
    const create = async (change: Change) => {
      const members = await change.tx.execute<{ user_id: string }[]>(
        `select m.user_id from workspace_members m
           join users u on u.id = m.user_id and u.deactivated_at is null
           join workspaces w on w.id = m.workspace_id and w.status = 'active'
         where m.organisation_id = ? and m.workspace_id = ? and m.user_id in (select jsonb_array_elements_text(?::jsonb)::uuid)
         order by m.user_id for key share`,
        [organisationId, workspaceId, JSON.stringify(userIds)],
      );
      for (const { user_id: userId } of members) {
        await provisionUserKey(change, apiKeyPepper, { organisationId, workspaceId, userId });
      }
      change.about({ id: workspaceId });
    };
    await writeChange(database.emOf(organisationId), auditKey, draftOf(organisationId, workspaceId), signal, create, {
      committed: wakeRelay,
    });
    return 'done';
  };
}

function draftOf(organisationId: string, workspaceId: string): AuditDraft {
  return {
    organisationId,
    workspaceId,
    method: 'POST',
    uri: `/v1/scim/${organisationId}/Groups`,
    requestId: '',
    requestBody: null,
    queryParams: {},
    userId: null,
    userType: 'system',
    resourceType: 'api_keys',
    action: 'provision',
    clientIp: '',
  };
}
