import { expect, it } from 'vitest';
import { readClaims } from '../../../admin/sign-in/oidc/read-claims.ts';

it.each([
  [{ given_name: 'Ada', family_name: 'Lovelace', name: 'Countess' }, ['Ada', 'Lovelace']],
  [{ given_name: 'Ada', name: 'Ada Lovelace' }, ['Ada', null]],
  [{ family_name: 'Lovelace', name: 'Ada Lovelace' }, [null, 'Lovelace']],
  [{ name: 'Ada Lovelace' }, ['Ada Lovelace', null]],
  [{}, [null, null]],
])('the names of a user are read from %j, the whole name only if there is no other', (claims, expected) => {
  const { firstName, lastName } = readClaims(claims, { group_claim: 'groups', trust_email: false });
  expect([firstName, lastName]).toEqual(expected);
});
