import { expect, it, vi } from 'vitest';
import { resolveTxt } from '../../../admin/http/resolve-txt.ts';

/** The name server that `resolv.conf` names when a resolver is created. */
const system = vi.hoisted(() => ({ server: 'before' }));
vi.mock('node:dns/promises', () => ({
  Resolver: class {
    readonly #server = system.server;
    resolveTxt = async (name: string) => [[`${name} of ${this.#server}`]];
  },
}));

it('TXT records are read from the name servers that the system has now', async () => {
  expect(await resolveTxt('example.com')).toEqual([['example.com of before']]);
  system.server = 'after';
  expect(await resolveTxt('example.com')).toEqual([['example.com of after']]);
});
