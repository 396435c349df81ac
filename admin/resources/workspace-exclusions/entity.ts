import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A workspace that does not run the organisation's default guardrails of one kind. */
export const workspaceExclusions = defineEntity({
  name: 'WorkspaceExclusion',
  tableName: 'workspace_exclusions',
  properties: {
    workspaceId: p.uuid().primary(),
    kind: p.text().$type<'input' | 'output'>().primary(),
    organisationId: p.uuid(),
    createdAt: p.datetime(),
  },
});

export type WorkspaceExclusion = InferEntity<typeof workspaceExclusions>;
