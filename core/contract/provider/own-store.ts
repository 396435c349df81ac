import type { HeaderList } from '../values/http.ts';
import type { Caller } from './provider.ts';

/**
 * The service's own files and batches: `provider: svc`, and what requests for files, batches and fine-tuning mean when they name no
 * provider. Their ids say whose they are, whatever provider a request names.
 */
export const ownStoreProvider = 'svc';

/** Where its calls go in place of a provider's address; the transport brings them to the control plane. No URL of a user is one. */
export const ownStoreOrigin = 'svc://store';

export const ownFilePrefix = 'svc_file_';
export const ownBatchPrefix = 'svc_batch_';

/** True for the id of a file or batch that the service keeps. */
export function isOwnId(id: unknown): boolean {
  return typeof id === 'string' && (id.startsWith(ownFilePrefix) || id.startsWith(ownBatchPrefix));
}

/** Headers by which a gateway tells the control plane for whom it asks; believed together with the cluster key only. */
export const callerHeaders = {
  organisation: 'svc-organisation',
  workspace: 'svc-workspace',
  key: 'svc-key',
  user: 'svc-user',
} as const;

/** Paths of the internal API that the own store may ask, and no other ones. */
export const ownStorePath = /^\/internal\/v1\/store\/(files|batches)(\/[\w-]{1,80}(\/(content|output|cancel))?)?(\?[^#]*)?$/;

/** These headers for this caller. Throws where nobody is known: nothing is kept for nobody. */
export function callerHeaderList(caller: Caller | null | undefined): HeaderList {
  if (!caller) throw new Error('the own store was called without a workspace');
  return [
    callerHeaders.organisation,
    caller.organisationId,
    callerHeaders.workspace,
    caller.workspaceId,
    callerHeaders.key,
    caller.keyId,
    callerHeaders.user,
    caller.userId ?? '',
  ];
}
