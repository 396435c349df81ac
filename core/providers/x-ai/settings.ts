import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `x-ai`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'x-ai',
  telemetryName: 'x_ai',
  title: 'xAI',
  aliases: ['xai'],
  load: () => import('./index.ts'),
});
