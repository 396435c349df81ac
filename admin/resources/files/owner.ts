import { callerHeaders } from '../../../core/contract/provider/own-store.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { StoreError } from './store-error.ts';

/** Owner of a file or batch, sent by a gateway that has verified the key. */
export interface Owner {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userId: string | null;
}

/** Throws 400 if the gateway left out a header. Every stored file needs an owner. */
export function readOwner(header: (name: string) => string | undefined): Owner {
  const read = (name: keyof typeof callerHeaders): string => {
    const value = header(callerHeaders[name]) ?? '';
    if (!isUuid(value)) throw new StoreError(400, `${callerHeaders[name]}: an id is expected`);
    return value;
  };
  const user = header(callerHeaders.user) ?? '';
  return {
    organisationId: read('organisation'),
    workspaceId: read('workspace'),
    keyId: read('key'),
    userId: isUuid(user) ? user : null,
  };
}
