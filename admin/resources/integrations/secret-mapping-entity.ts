import { defineEntity, p } from '@mikro-orm/core';

/** One field of an integration that is read from a secret manager. */
export const secretMappings = defineEntity({
  name: 'SecretMapping',
  tableName: 'secret_mappings',
  properties: {
    integrationId: p.uuid().primary(),
    /** Config name of the field: `api_key`, `aws_secret_access_key`. */
    field: p.text().primary(),
    organisationId: p.uuid(),
    secretReferenceId: p.uuid(),
    /** Name of the value in the secret; overrides that of the reference. */
    secretKey: p.text().nullable(),
    valueFormat: p.text().$type<'string' | 'json'>().nullable(),
    /** Position in the sent list. */
    position: p.integer(),
  },
});
