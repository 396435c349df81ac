import { callerHeaders } from '../../../core/contract/provider/own-store.ts';
import { isUuid } from '../../db/new-id.ts';
import { StoreError } from './store-error.ts';

/** Whose file or batch it is, as a gateway says that has checked the key. */
export interface Owner {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userId: string | null;
}

/** Throws 400 where a gateway left something out: nothing is kept for nobody. */
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
