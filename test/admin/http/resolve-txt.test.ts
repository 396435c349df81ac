import { expect, it } from 'vitest';
import { resolveTxt } from '../../../admin/http/resolve-txt.ts';

it('TXT records are read from the name servers that the system has now', async () => {
  let server = 'before';
  /** A resolver keeps the name server that the system has when it is created. */
  const createResolver = () => {
    const kept = server;
    return { resolveTxt: async (name: string) => [[`${name} of ${kept}`]] };
  };
  expect(await resolveTxt('example.com', createResolver)).toEqual([['example.com of before']]);
  server = 'after';
  expect(await resolveTxt('example.com', createResolver)).toEqual([['example.com of after']]);
});
