import { auditEntries } from '../audit/entity.ts';
import { outbox } from '../publish/entity.ts';
import { apiKeys } from '../resources/api-keys/entity.ts';
import { configs, configVersions } from '../resources/configs/entity.ts';
import { integrations, integrationWorkspaces } from '../resources/integrations/entity.ts';
import { requestRecords } from '../resources/logs/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { providers } from '../resources/providers/entity.ts';
import { workspaceExclusions } from '../resources/workspace-exclusions/entity.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import { dataKeys } from '../secrets/entity.ts';

/** Every table the ORM knows. A new resource adds its line here and its migration to `migrations/index.ts`. */
export const entities = [
  organisations,
  workspaces,
  workspaceExclusions,
  apiKeys,
  integrations,
  integrationWorkspaces,
  providers,
  configs,
  configVersions,
  dataKeys,
  auditEntries,
  outbox,
  requestRecords,
];
