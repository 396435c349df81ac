import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import { createOwnStoreChoice, ownStoreTarget } from '../../../core/own-store/resolve-own-store.ts';
import { providers } from '../../../core/providers/index.ts';
import { ownStore } from '../../../core/providers/svc/index.ts';

const own = ownStoreTarget(ownStore);

it.each([
  ['batch', true],
  ['fine-tune', false],
])('own store: a file of Fireworks AI for the purpose %s, under any header prefix, stays here: %s', (purpose, staysHere) => {
  const adapter = providers.get('fireworks-ai') ?? expect.fail('no adapter');
  const choice = createOwnStoreChoice(own);
  const ctx = {
    endpoint: { operation: 'uploadFile', isStored: true, isEmulated: true },
    request: { header: () => undefined },
    gatewayHeaders: new Map([['file-purpose', purpose]]),
  } as unknown as RequestContext;
  expect(choice.before(ctx, { provider: '@fireworks' } as Target)).toBeNull();
  expect(choice.after(ctx, { ...own, adapter }) === own).toBe(staysHere);
});
