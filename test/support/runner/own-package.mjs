import { registerHooks } from 'node:module';
import sources from './package-sources.json' with { type: 'json' };

/** Preload of tests that Node loads itself: the names of this package lead to its sources, as in vitest.config.ts, and not to a build. */
const root = new URL('../../../', import.meta.url);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = sources[specifier];
    return nextResolve(source ? new URL(source, root).href : specifier, context);
  },
});
