import { auditChains, auditEntries } from '../audit/entity.ts';
import { idempotencyKeys } from '../http/idempotency/entity.ts';
import { oneTimeTokens, sessions } from '../identity/entity.ts';
import { jobs } from '../jobs/entity.ts';
import { limitBudgets, limitLeases, limitWindows } from '../leases/entity.ts';
import { outbox } from '../publish/entity.ts';
import { apiKeys } from '../resources/api-keys/entity.ts';
import { batches, batchLines } from '../resources/batches/entity.ts';
import { configs, configVersions } from '../resources/configs/entity.ts';
import { storedFileChunks, storedFiles } from '../resources/files/entity.ts';
import { integrations, integrationWorkspaces } from '../resources/integrations/entity.ts';
import { integrationModels } from '../resources/integrations/model-entity.ts';
import { secretMappings } from '../resources/integrations/secret-mapping-entity.ts';
import { requestRecords } from '../resources/logs/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { providers } from '../resources/providers/entity.ts';
import { secretReferences } from '../resources/secret-references/entity.ts';
import { userInvites } from '../resources/user-invites/entity.ts';
import { users } from '../resources/users/entity.ts';
import { workspaceExclusions } from '../resources/workspace-exclusions/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import { dataKeys } from '../secrets/entity.ts';

/** Every table the ORM knows. A new resource adds its line here and its migration to `migrations/index.ts`. */
export const entities = [
  organisations,
  workspaces,
  users,
  workspaceMembers,
  userInvites,
  sessions,
  oneTimeTokens,
  workspaceExclusions,
  apiKeys,
  integrations,
  integrationWorkspaces,
  integrationModels,
  secretReferences,
  secretMappings,
  providers,
  configs,
  configVersions,
  dataKeys,
  auditEntries,
  auditChains,
  idempotencyKeys,
  outbox,
  requestRecords,
  limitWindows,
  limitBudgets,
  limitLeases,
  jobs,
  storedFiles,
  storedFileChunks,
  batches,
  batchLines,
];
