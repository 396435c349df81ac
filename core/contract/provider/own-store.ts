import type { HeaderList } from '../values/http/http.ts';
import type { Caller } from './provider.ts';

/**
 * The service's own files and batches: `provider: svc`, and the target of requests for files, batches and fine-tuning that name
 * no provider. The ids of these resources identify their owner, whichever provider a request names.
 */
export const ownStoreProvider = 'svc';

/**
 * Origin of calls to the own store, in place of a provider's address. The transport sends them to the control plane. No user can
 * set this URL.
 */
export const ownStoreOrigin = 'svc://store';

export const ownFilePrefix = 'svc_file_';
export const ownBatchPrefix = 'svc_batch_';

/** True for the id of a file or batch that the service stores. */
export function isOwnId(id: unknown): boolean {
  return typeof id === 'string' && (id.startsWith(ownFilePrefix) || id.startsWith(ownBatchPrefix));
}

/** Headers that identify the caller to the control plane. They are trusted only together with the cluster key. */
export const callerHeaders = {
  organisation: 'svc-organisation',
  workspace: 'svc-workspace',
  key: 'svc-key',
  user: 'svc-user',
} as const;

/** Paths of the internal API that the own store may call. */
export const ownStorePath = /^\/internal\/v1\/store\/(files|batches)(\/[\w-]{1,80}(\/(content|output|cancel))?)?(\?[^#]*)?$/;

/** Returns these headers for the caller. Throws if there is no caller, because every stored resource has an owner. */
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
