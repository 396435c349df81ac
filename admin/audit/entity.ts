import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** One change, or one attempt that was rejected. Rows are never updated or deleted. */
export const auditEntries = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entries',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    createdAt: p.datetime(),
    method: p.text(),
    uri: p.text(),
    requestId: p.text(),
    /** Request body with secrets masked; null if it could not be read. */
    requestBody: p.json().$type<unknown>().nullable(),
    queryParams: p.json().$type<Record<string, string>>(),
    /** The few headers that describe the request; none can hold a credential. */
    requestHeaders: p.json().$type<Record<string, string>>().nullable(),
    /** The user of a user key or session, otherwise the key itself. */
    userId: p.uuid().nullable(),
    userType: p.text().$type<'user' | 'api_key' | 'system'>(),
    responseStatusCode: p.integer(),
    errorCode: p.text().nullable(),
    resourceType: p.text(),
    resourceId: p.text().nullable(),
    action: p.text(),
    clientIp: p.text(),
    /** Country of the address, if a proxy in front sends it. */
    country: p.text().nullable(),
    /** Position in the organisation's chain, from 1, without gaps. */
    seq: p.bigint('number').nullable(),
    previousHash: p.text().nullable(),
    hash: p.text().nullable(),
  },
});

/** The newest link of each organisation's chain. */
export const auditChains = defineEntity({
  name: 'AuditChain',
  tableName: 'audit_chains',
  properties: {
    organisationId: p.uuid().primary(),
    seq: p.bigint('number'),
    hash: p.text(),
  },
});

export type AuditEntry = InferEntity<typeof auditEntries>;
