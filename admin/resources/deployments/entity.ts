import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A group of gateways under one name. */
export const deployments = defineEntity({
  name: 'Deployment',
  tableName: 'deployments',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    type: p.text().$type<'production' | 'non_production'>(),
    isArchived: p.boolean(),
    isDefault: p.boolean(),
    tags: p.json().$type<Readonly<Record<string, unknown>>>(),
    /** Null: the report of a gateway created it. */
    createdBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Increases with every change of a person; the `etag`. Reports of gateways do not change it. */
    revision: p.integer().version(),
  },
});

export type Deployment = InferEntity<typeof deployments>;

/** One gateway process, from its last report. */
export const deploymentInstances = defineEntity({
  name: 'DeploymentInstance',
  tableName: 'deployment_instances',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    deploymentId: p.uuid(),
    host: p.text(),
    slot: p.integer(),
    version: p.text(),
    sourceType: p.text(),
    tags: p.json().$type<Readonly<Record<string, string>>>(),
    startedAt: p.datetime(),
    seenAt: p.datetime(),
  },
});

export type DeploymentInstance = InferEntity<typeof deploymentInstances>;
