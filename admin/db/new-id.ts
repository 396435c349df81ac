import { randomBytes, randomUUID } from 'node:crypto';

/** Row id. */
export function newId(): string {
  return randomUUID();
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns true if a path or body names a row by id; everything else is a slug. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Returns a slug made from a name: `pc-my-config-3f9a1c`. The random end distinguishes equal names. */
export function newSlug(prefix: string, name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${prefix}${words === '' ? '' : `${words}-`}${randomBytes(3).toString('hex')}`;
}
