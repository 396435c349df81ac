import { defineResource, slugOfReply } from '../../define-resource.ts';
import { addCosts } from './add-costs.ts';
import { promptTestResults, promptTestRuns, promptTestSets } from './entity.ts';
import { PromptTests } from './migrations/202611222345-prompt-tests.ts';
import { PromptTestContents } from './migrations/202611230310-prompt-test-contents.ts';
import { promptTestSetRoutes } from './routes.ts';
import { promptTestRunRoutes } from './run-routes.ts';
import { promptTestJob } from './run-tests.ts';
import { promptTestKind } from './start-run.ts';

export const promptTestsResource = defineResource({
  name: 'prompt-tests',
  after: ['api-keys', 'guardrails'],
  entities: [promptTestSets, promptTestRuns, promptTestResults],
  migrations: [
    { name: '202611222345-prompt-tests', class: PromptTests },
    { name: '202611230310-prompt-test-contents', class: PromptTestContents },
  ],
  routes: [...promptTestSetRoutes, ...promptTestRunRoutes],
  recordWriters: [addCosts],
  jobs: [{ kind: promptTestKind, handler: promptTestJob }],
  dependents: {
    workspace: [
      {
        what: 'test sets',
        count: (em, { id, organisationId }) => em.count(promptTestSets, { organisationId, workspaceId: id }),
        async remove({ tx }, { id, organisationId }) {
          await tx.nativeDelete(promptTestSets, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/prompts/test-sets',
      item: '/prompts/test-sets/{testSetId}',
      list: '/prompts/test-sets',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} test set ${n}`,
        rows: [{ variables: { name: mark } }],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
