import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import type { MappedSecretDocument } from '../../../../core/contract/protocol/credentials/secret-reference.ts';
import { deriveKey, seal } from '../../../../core/contract/values/credentials/secret.ts';
import type { EntityManager } from '../../../db/open-database.ts';
import type { Vault } from '../../../secrets/vault.ts';
import { isOpenTo } from '../../secret-references/find-reference.ts';
import { openAuth } from '../../secret-references/secrets.ts';
import type { Integration } from '../entity.ts';
import type { Mapping } from './mapping-table.ts';
import { mappingsOf, targetOf } from './secret-mappings.ts';

/**
 * Returns the mappings of an integration if this workspace may use all their references. Otherwise null: its providers cannot be
 * used in the workspace.
 */
export async function usableMappings(em: EntityManager, row: Integration, workspaceId: string): Promise<Mapping[] | null> {
  const mapped = await mappingsOf(em, row);
  return mapped.every(({ reference }) => isOpenTo(reference, workspaceId)) ? mapped : null;
}

/**
 * Returns the documents gateways need to read the values. Credentials for the secret managers are sealed with the transport key.
 * The documents contain no other secret.
 */
export async function mappedDocuments(
  em: EntityManager,
  vault: Vault,
  clusterKey: Uint8Array,
  mapped: readonly Mapping[],
): Promise<MappedSecretDocument[]> {
  const transport = deriveKey(clusterKey, keyPurposes.transport);
  return Promise.all(
    mapped.map(async ({ field, isSecret, secretKey, valueFormat, reference }) => {
      const secrets = await openAuth(em, vault, reference);
      const isEmpty = Object.keys(secrets).length === 0;
      return {
        target: targetOf(field, 'configurations'),
        field,
        isSecret,
        format: valueFormat ?? 'string',
        id: reference.id,
        slug: reference.slug,
        revision: reference.revision,
        managerType: reference.managerType,
        path: reference.secretPath,
        key: secretKey ?? reference.secretKey ?? null,
        auth: reference.auth,
        authSecrets: isEmpty ? null : seal(transport, JSON.stringify(secrets), `secret-reference/${reference.id}`),
      };
    }),
  );
}
