import { defineProvider } from '../../provider-settings/declaration.ts';
import { headerValue } from '../../provider-settings/kinds.ts';
import { openAiTiers, requestsOfOpenAi, toolsOfOpenAi, unlistedPrice } from '../../provider-settings/openai-prices.ts';
import { federatedAuth, federationId } from '../../provider-settings/shared-settings.ts';

/** Declares the provider `openai`. */
export const declaration = defineProvider({
  id: 'openai',
  title: 'OpenAI',
  // A fine-tuned model: ft:<base>:<organisation>::<id>.
  priceName: (model) => (model.startsWith('ft:') ? (model.split(':')[1] ?? '') : model),
  prices: { tiers: openAiTiers, thousands: toolsOfOpenAi, thousandRequests: requestsOfOpenAi, unlisted: unlistedPrice },
  aliases: ['open-ai'],
  settings: {
    openai_organization: headerValue({ about: 'Organization that is billed.', example: 'org-1' }),
    openai_project: headerValue({ about: 'Project that is billed.', example: 'proj_1' }),
    openai_beta: headerValue({ about: 'Comma list of beta features.', example: 'assistants=v2' }),
    wif_identity_provider_id: federationId('Identity provider that tokens are exchanged under.', 'idp_1'),
    wif_service_account_id: federationId('Service account that calls are made as.', 'svac_1'),
  },
  auth: [federatedAuth(['wif_identity_provider_id', 'wif_service_account_id'])],
  load: () => import('./index.ts'),
});
