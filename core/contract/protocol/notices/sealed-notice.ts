import { seal, unseal } from '../../values/credentials/secret.ts';
import type { ChangeNotice } from './change-notice.ts';

const aad = 'change notice';

/** Seals the id of a `user` for NATS, whose clients can read all notices: it contains the e-mail address. Other ids are not personal. */
export function sealNotice(key: Uint8Array, notice: ChangeNotice): ChangeNotice {
  return notice.kind === 'user' ? { ...notice, id: seal(key, notice.id, aad) } : notice;
}

/** Returns the notice with its plain id. Null if it was sealed with another key. */
export function openNotice(key: Uint8Array, notice: ChangeNotice): ChangeNotice | null {
  // Notices of this machine are not sealed. A sealed text has no slash.
  if (notice.kind !== 'user' || notice.id.includes('/')) return notice;
  try {
    return { ...notice, id: unseal(key, notice.id, aad).toString('utf8') };
  } catch {
    return null;
  }
}
