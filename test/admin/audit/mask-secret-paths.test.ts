import { expect, it } from 'vitest';
import { maskSecrets } from '../../../admin/audit/mask-secrets.ts';

it('the path of an operation is looked for once, however many names are spellings of value', () => {
  const names = Array.from({ length: 200 }, (_, i) => `value${'_'.repeat(i)}`);
  let reads = 0;
  const operation = new Proxy(Object.fromEntries([...names, 'path'].map((name) => [name, 'x'])), {
    ownKeys(target) {
      reads++;
      return Reflect.ownKeys(target);
    },
  });
  expect(maskSecrets(operation)).toEqual({ ...operation });
  expect(reads).toBeLessThan(5);
});

it.each([
  [{ path: 'password', value: 'hidden' }],
  [{ Path: 'emails', path: 'password', value: 'hidden' }],
  [{ path: 'password', value: 'hidden', va_lue: 'hidden' }],
])('values of an operation on a secret are masked: %j', (operation) => {
  expect(JSON.stringify(maskSecrets(operation))).not.toContain('hidden');
});
