import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { RestApi } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import type { OpenApiDocument } from './openapi-schema.ts';

/** The REST API of an integration with the transport `rest`. */
export const mcpRestApis = defineEntity({
  name: 'McpRestApi',
  tableName: 'mcp_rest_apis',
  properties: {
    integrationId: p.uuid().primary(),
    organisationId: p.uuid(),
    /** The document, converted to OpenAPI 3.1. */
    document: p.json().$type<OpenApiDocument>(),
    /** The selected operations as tools. */
    api: p.json().$type<RestApi>(),
  },
});

export type McpRestApi = InferEntity<typeof mcpRestApis>;
