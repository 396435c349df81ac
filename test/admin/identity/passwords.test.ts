import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../../admin/identity/passwords.ts';

describe('passwords', () => {
  it('are stored as scrypt with their own salt, and verified', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse battery'), hashPassword('correct horse battery')]);
    expect(one).toMatch(/^scrypt\$15\$8\$3\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword('correct horse battery', one)).toBe(true);
    expect(await verifyPassword('correct horse batterz', one)).toBe(false);
  });

  it('are the same for every Unicode composition', async () => {
    const stored = await hashPassword('caf\u00e9 con leche');
    expect(await verifyPassword('cafe\u0301 con leche', stored)).toBe(true);
  });

  it('never match for unknown users', async () => {
    for (const tried of ['', 'correct horse battery']) expect(await verifyPassword(tried, null)).toBe(false);
  });

  it('are verified a few at a time: a flood is rejected, and the rest are served', async () => {
    const many = await Promise.allSettled(Array.from({ length: 34 }, () => verifyPassword('x', cheap)));
    const refused = many.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(2);
    for (const one of refused) expect(one.reason).toMatchObject({ code: 'AB10', status: 503 });
    expect(await verifyPassword('x', cheap)).toBe(false);
  });
});

const cheap = `scrypt$4$8$1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
