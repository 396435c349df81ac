import { randomBytes } from 'node:crypto';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { User } from '../../resources/users/entity.ts';
import { hashOf } from '../one-time-secret.ts';
import { recoveryCodes } from './entity.ts';

type Owner = Pick<User, 'id' | 'organisationId'>;

const codeCount = 10;
/** Without letters and digits that look alike (0, 1, i, l, o, u). 30 signs: 16 of them have 78 bits. */
const signs = '23456789abcdefghjkmnpqrstvwxyz';

/** Replaces the recovery codes of a user. Only the return value contains them. */
export async function replaceRecoveryCodes(
  tx: EntityManager,
  { id: userId, organisationId }: Owner,
  now: number,
): Promise<string[]> {
  await tx.nativeDelete(recoveryCodes, { organisationId, userId });
  const codes = Array.from({ length: codeCount }, newCode);
  for (const code of codes) {
    tx.create(recoveryCodes, { id: newId(), organisationId, userId, codeHash: hashOf(plain(code)), createdAt: new Date(now) });
  }
  return codes;
}

/** Consumes a code of the user. False if the user has no such code, or a concurrent request used it. */
export async function useRecoveryCode(tx: EntityManager, { id: userId, organisationId }: Owner, code: string): Promise<boolean> {
  return (await tx.nativeDelete(recoveryCodes, { organisationId, userId, codeHash: hashOf(plain(code)) })) > 0;
}

export async function countRecoveryCodes(em: EntityManager, { id: userId, organisationId }: Owner): Promise<number> {
  return em.count(recoveryCodes, { organisationId, userId });
}

/** Users type codes with other spacing and case. */
function plain(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function newCode(): string {
  let code = '';
  while (code.length < 16) {
    for (const byte of randomBytes(32)) {
      // Larger bytes would make the first signs more likely.
      if (byte < 240 && code.length < 16) code += signs[byte % 30];
    }
  }
  return code.replace(/(.{4})(?=.)/g, '$1-');
}
