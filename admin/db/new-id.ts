import { randomBytes, randomUUID } from 'node:crypto';

/** Row id. */
export function newId(): string {
  return randomUUID();
}

/** Returns a slug made from a name: `pc-my-config-3f9a1c`. The random end distinguishes equal names. */
export function newSlug(prefix: string, name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 40);
  return `${prefix}${words === '' ? '' : `${words}-`}${randomBytes(3).toString('hex')}`;
}
