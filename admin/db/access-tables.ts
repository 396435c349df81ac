import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A table of the workspaces that may use each integration of an organisation. */
export function sharingTable(name: string, tableName: string) {
  return defineEntity({
    name,
    tableName,
    properties: {
      id: p.uuid().primary(),
      organisationId: p.uuid(),
      integrationId: p.uuid(),
      workspaceId: p.uuid(),
      enabled: p.boolean(),
      createdAt: p.datetime(),
      lastUpdatedAt: p.datetime(),
    },
  });
}
export type SharingTable = ReturnType<typeof sharingTable>;
export type SharingRow = InferEntity<SharingTable>;

/** A table of the users whose access to a server differs from its default. */
export function serverUsersTable(name: string, tableName: string) {
  return defineEntity({
    name,
    tableName,
    properties: {
      id: p.uuid().primary(),
      organisationId: p.uuid(),
      workspaceId: p.uuid(),
      serverId: p.uuid(),
      userId: p.uuid(),
      enabled: p.boolean(),
      lastUpdatedAt: p.datetime(),
    },
  });
}
export type ServerUsersTable = ReturnType<typeof serverUsersTable>;
