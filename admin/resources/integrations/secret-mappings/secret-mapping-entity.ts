import { defineMappingTable } from './mapping-table.ts';

/** Fields of integrations that are read from secret managers, by config name: `api_key`, `aws_secret_access_key`. */
export const secretMappings = defineMappingTable('SecretMapping', 'secret_mappings');
