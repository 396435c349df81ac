import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import { ownStoreTarget, withOwnStore } from '../../../core/own-store/resolve-own-store.ts';
import { providers } from '../../../core/providers/index.ts';
import { ownStore } from '../../../core/providers/svc/index.ts';

const own = ownStoreTarget(ownStore);

it.each([
  ['batch', true],
  ['fine-tune', false],
])(
  'own store: a file of Fireworks AI for the purpose %s, under any header prefix, stays here: %s',
  async (purpose, staysHere) => {
    const adapter = providers.get('fireworks-ai') ?? expect.fail('no adapter');
    const resolve = withOwnStore(() => ({ ...own, adapter }), own);
    const ctx = {
      endpoint: { operation: 'uploadFile', isStored: true, isEmulated: true },
      request: { header: () => undefined },
      gatewayHeaders: new Map([['file-purpose', purpose]]),
    } as unknown as RequestContext;
    const resolved = await resolve(ctx, { provider: '@fireworks' } as Target);
    expect(resolved === own).toBe(staysHere);
  },
);
